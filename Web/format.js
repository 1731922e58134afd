// Words for people: times, numbers with their units, and events as one line.

/** By how the names of fields end, as the daemon's own table has them. */
const units = {
  a: "A", ah: "Ah", bar: "bar", bpm: "bpm", bq: "Bq", c: "°C", cd: "cd", cm: "cm", cm3: "cm³", days: "d", db: "dB",
  dbm: "dBm", deg: "°", deg_s: "°/s", dl: "dL", f: "°F", ft: "ft", g: "g", h: "h", hpa: "hPa", hz: "Hz", in: "in",
  j: "J", k: "K", kcal: "kcal", kg: "kg", kj: "kJ", km: "km", km_h: "km/h", kmh: "km/h", kn: "kn", kpa: "kPa",
  kvah: "kVAh", kw: "kW", kwh: "kWh", l: "L", lb: "lb", lm: "lm", lx: "lx", m: "m", m2: "m²", m3: "m³", m3_h: "m³/h",
  m_s: "m/s", m_s2: "m/s²", ma: "mA", mah: "mAh", mbar: "mbar", met: "MET", mg: "mg", mg_dl: "mg/dL", mg_m3: "mg/m³",
  min: "min", ml: "mL", mm: "mm", mmhg: "mmHg", mmol: "mmol", mmol_l: "mmol/L", ms: "ms", mv: "mV", mw: "mW", n: "N",
  nm: "N·m", nmi: "nmi", ns: "ns", nsv: "nSv", ohm: "Ω", oz: "oz", pa: "Pa", percent: "%", ppb: "ppb", ppm: "ppm",
  ps: "ps", rpm: "rpm", s: "s", s2: "s²", ug_m3: "µg/m³", um: "µm", us: "µs", usv: "µSv", ut: "µT", v: "V", va: "VA",
  w: "W", wh: "Wh", years: "y",
};

/** A field's name as the profile writes it, `battery_percent`, as words and a unit: "battery", "%". */
export function fieldWords(name) {
  const words = name.split(/[_.]/);
  const divisors = [];
  while (words.at(-2) === "per" && units[words.at(-1)]) {
    divisors.unshift(units[words.at(-1)]);
    words.splice(-2);
  }
  // `over_10_um_per_cm3` counts what has this size.
  const namesSize = divisors.length > 0 && /^[0-9]+$/.test(words.at(-2));
  const length = namesSize ? 0 : [2, 1].find((count) => units[words.slice(-count).join("_")]);
  const unit = length ? units[words.slice(-length).join("_")] : divisors.length ? "1" : "";
  const label = length ? words.slice(0, -length).join(" ") || words.join(" ") : words.join(" ");
  return { label, unit: [unit, ...divisors].join("/") };
}

function mostDigits(value) {
  return Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 1 ? 2 : 3;
}

/** How many digits a number was sent with behind its point, as far as they are shown. */
export function digitsOf(value) {
  return (String(Number(value.toFixed(mostDigits(value)))).split(".")[1] ?? "").length;
}

/** `digits` are those of the values that were sent, for a mean of them has more. */
export function number(value, digits = Infinity) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return String(value);
  const most = Math.min(digits, mostDigits(value));
  return value.toLocaleString(undefined, { minimumFractionDigits: digits === Infinity ? 0 : most, maximumFractionDigits: most });
}

export function withUnit(value, unit, digits) {
  return unit ? `${number(value, digits)} ${unit}` : number(value, digits);
}

/** Of an event's value, every field that is one number, word or truth, by its name; of a list, the last. */
export function fieldsOf(value, name = "") {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return fieldsOf(value.at(-1), name);
  if (typeof value !== "object") return [[name || "value", value]];
  return Object.entries(value).flatMap(([key, inner]) => fieldsOf(inner, name ? `${name}.${key}` : key));
}

function valueText(value) {
  const texts = fieldsOf(value).map(([name, each]) => {
    const { label, unit } = fieldWords(name);
    return label === unit ? withUnit(each, unit) : `${label} ${withUnit(each, unit)}`;
  });
  return texts.join(" · ");
}

export function duration(seconds) {
  if (seconds < 0.995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${number(Math.round(seconds * 10) / 10)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129_600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

export function ago(moment) {
  const seconds = Math.max(0, (Date.now() - moment) / 1000);
  return seconds < 1 ? "now" : `${duration(Math.floor(seconds))} ago`;
}

export function percent(ratio) {
  const value = ratio * 100;
  return `${value.toLocaleString(undefined, { maximumSignificantDigits: value < 1 ? 1 : 3 })} %`;
}

/** The time of day, with the date where it is not today. */
export function clock(moment, { hasSeconds = true } = {}) {
  const date = new Date(moment);
  const style = { hour: "2-digit", minute: "2-digit", ...(hasSeconds && { second: "2-digit" }), hourCycle: "h23" };
  const time = date.toLocaleTimeString(undefined, style);
  return date.toDateString() === new Date().toDateString() ? time : `${date.toLocaleDateString()} ${time}`;
}

/** A clause of the daemon, to be read alone. */
export function sentence(clause) {
  return clause.charAt(0).toUpperCase() + clause.slice(1);
}

export function count(amount, one, many) {
  return `${amount.toLocaleString()} ${amount === 1 ? one : many}`;
}

const causes = {
  link: "no data", disconnected: "not connected", "not-recorded": "not recorded", overflow: "no room was left",
  policy: "dropped by a handler's policy", storm: "over the rate limit", stopped: "its handler was stopped",
  retention: "kept for too long", durability: "unreadable in the journal", "dead-letter": "given up after five tries",
  "bridge-restart": "the bridge restarted",
};

/** Why there is no data, in words for people. */
export function causeText(cause) {
  return causes[cause] ?? cause.replaceAll("-", " ");
}

/** What happened, without the device's name. */
export function eventText({ type, data = {} }) {
  const kind = type.replace(/^wakebridge\./, "").replace(/^device\./, "").replace(".", " ");
  switch (kind) {
    case "data":
      return valueText(data.value) || data.undecodable || data.raw;
    case "disconnected":
      return `disconnected: ${data.reason}`;
    case "gap":
      return `gap: ${gapText(data)}`;
    case "attention":
      return `${data.kind}: ${data.detail}`;
    default:
      return [kind, data.id ?? data.job].filter(Boolean).join(" ");
  }
}

function gapText({ cause, count: lost, from, to }) {
  const span = from && to ? ` for ${duration((Date.parse(to) - Date.parse(from)) / 1000)}` : "";
  return `${causeText(cause)}${span}${lost ? `, ${count(lost, "event", "events")} lost` : ""}`;
}
