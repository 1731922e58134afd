"""A strap that asks for proof is paired with it, in each way it may ask; without it, or with a wrong one, never."""
import re

from lab import let_pass, until

WAITS = True


def run(lab):
    air, bridge = lab.start()
    strap = air.strap("--ability", "display", "--passkey", "428913")

    deaths = []

    def pair(*words):
        deaths.extend(revived(air))
        # After a failed pairing the kernel may give up a connection just as it is made: nothing tells that to the strap.
        if not until(agree, 5):
            lab.figure("a link that the strap alone believed in", strap.tell("drop"))
        return bridge.tool("pair", "--alias", "chest", *words, strap.address)

    def agree():
        """Whether the strap and bluetoothd think the same of the link."""
        linked = [word for _, word, _ in strap.entries("connected", "disconnected")][-1:] == ["connected"]
        return linked == bool(air.device(strap, "Connected"))

    def seen(said, status):
        """Explains a claim that fails: how the tool ended, and the latest entries of the strap about its link."""
        link = strap.entries("advertising", "hushed", "connected", "disconnected", "pairing-failed", "undroppable", "command")
        return f"{status}: {said}; the strap: {link[-8:]}"

    def bonded():
        return bool(air.device(strap, "Bonded"))

    def refused(sentence, word, *words):
        said, status = pair(*words)
        lab.claim(sentence, status == 1 and word in said and not bonded() and not air.device(strap, "Trusted"),
                  seen(said, status))
        lab.figure("it says", said.strip().splitlines()[-1] if said.strip() else "nothing")

    def taken(sentence, said, status):
        lab.claim(sentence, status == 0 and bonded(), seen(said, status))

    refused("without the passkey that the strap shows, it is not paired, and the option is named", "--passkey")
    refused("with a wrong passkey it is not paired, and that is said", "000001 is not the one", "--passkey", "1")
    taken("with the passkey that the strap shows, it is", *pair("--passkey", "428913"))
    lab.eventually("and it is heard", bridge.beats, 30)
    lab.claim("once bonded it is asked for nothing", pair()[1] == 0)

    lab.figure("times that bluetoothd died of a pairing that failed", len(deaths))

    forget(bridge, strap)
    strap.tell("ability yesno")
    refused("a number that nobody compares is not agreed to, and the option is named", "--yes")
    taken("unseen, as --yes says, it is", *pair("--yes"))
    compared = strap.entries("compare")
    lab.claim("the strap showed a number", compared, compared)

    forget(bridge, strap)
    strap.tell("ability keyboard")
    for wrong in (1, 0):
        revived(air)
        tool = bridge.background("typing", "pair", "--alias", "chest", strap.address)
        before = len(tool.text())
        shown = until(lambda: re.search(r"\b\d{6}\b", tool.text()[before:]), 40)
        lab.claim("the passkey to type on the strap is shown", shown, seen(tool.text(), None))
        if shown:
            strap.tell(f"type {(int(shown[0]) + wrong) % 1000000}")
        status = tool.child.wait(60)
        if wrong:
            lab.claim("typed wrongly, it is not paired, and that is said",
                      status == 1 and "what was typed" in tool.text() and not bonded(), seen(tool.text(), status))
        else:
            taken("typed as it was shown, it is", tool.text(), status)


def revived(air):
    """Starts bluetoothd again where it has died; its process, if so."""
    let_pass(0.5, "bluetoothd 5.66 may die a moment after a pairing that failed, and nothing comes where it does not")
    return [air.bluetoothd.pid] if air.revive_bluetoothd() else []


def forget(bridge, strap):
    """On both sides."""
    said, status = bridge.tool("forget", strap.address)
    if status:
        raise RuntimeError(f"wakebridge forget: {said}")
    strap.tell("forget-bond")
