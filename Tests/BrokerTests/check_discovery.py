# Home Assistant's own reading of discovery: each line of the file is {"topic", "payload"}; prints what it does not accept.
import json
import logging
import sys

from homeassistant.components.mqtt import binary_sensor, button, sensor, switch
from homeassistant.components.mqtt.discovery import TOPIC_MATCHER
from homeassistant.components.mqtt.schemas import DEVICE_DISCOVERY_SCHEMA
from homeassistant.components.sensor.const import DEVICE_CLASS_STATE_CLASSES, DEVICE_CLASS_UNITS
from jinja2.sandbox import ImmutableSandboxedEnvironment

PLATFORMS = {"binary_sensor": binary_sensor, "button": button, "sensor": sensor, "switch": switch}
logging.disable(logging.CRITICAL)
jinja = ImmutableSandboxedEnvironment()


def check_sensor(name, config):
    """What Home Assistant only warns of is a fault here."""
    device_class, unit = config.get("device_class"), config.get("unit_of_measurement")
    if device_class in DEVICE_CLASS_UNITS and unit not in DEVICE_CLASS_UNITS[device_class]:
        raise ValueError("%s: unit %s is none of %s" % (name, unit, device_class))
    allowed = DEVICE_CLASS_STATE_CLASSES.get(device_class)
    state_class = config.get("state_class")
    if allowed is not None and state_class is not None and state_class not in {one.value for one in allowed}:
        raise ValueError("%s: state class %s does not fit %s" % (name, state_class, device_class))


def check(topic, payload):
    match = TOPIC_MATCHER.match(topic.removeprefix("homeassistant/"))
    if match is None:
        raise ValueError("Home Assistant does not match the topic")
    origin, device = payload.get("origin"), payload.get("device")
    if match.group("component") != "device":
        shared, components = {"origin": origin}, {"": dict(payload, platform=match.group("component"))}
    else:
        shared = {key: value for key, value in payload.items() if key != "components"}
        components = DEVICE_DISCOVERY_SCHEMA(payload)["components"]
    for name, config in components.items():
        config = dict(config, device=device)
        platform = config.pop("platform")
        if set(config) == {"device"}:  # what has a platform alone is removed
            continue
        for key in ("origin",):
            if key in shared:
                config[key] = shared[key]
        PLATFORMS[platform].DISCOVERY_SCHEMA(dict(config))
        if platform == "sensor":
            check_sensor(name, config)
        if "value_template" in config:
            jinja.from_string(str(config["value_template"].template if hasattr(config["value_template"], "template")
                                  else config["value_template"]))
    return len(components)


def main():
    faults = accepted = entities = 0
    for line in open(sys.argv[1]):
        message = json.loads(line)
        try:
            entities += check(message["topic"], message["payload"])
            accepted += 1
        except Exception as fault:  # each one is told, whatever it is
            faults += 1
            print("%s: %s: %s" % (message["topic"], type(fault).__name__, str(fault)[:300]))
    print("accepted %d messages with %d entities" % (accepted, entities))
    sys.exit(faults > 0)


main()
