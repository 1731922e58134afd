"""Scripts/prepare.sh on machines of its own: what it installs, and what it says where it cannot."""
from bench import InFolder, lines, put, run

LENT = ["cat", "dirname", "env", "grep", "head", "mktemp", "rm", "sed", "uname"]
INSTALLED = "#!/bin/sh\necho 'Swift version 6.0.3 (swift-6.0.3-RELEASE)'"


class PrepareTests(InFolder):
    def prepare(self, *words, apt, swift=None, user=0):
        """A machine of its own in a folder that is all of PATH: everything but Swift, and an apt that knows it or not."""
        path = self.folder / "path"
        self.lend(path, LENT)
        self.programs(path, {
            "id": f"echo {user}", "gcc": "echo /usr/lib/$1", "g++": "", "pkg-config": "", "jq": "",
            "dpkg": '[ "${2%%.*}" -ge "$4" ]', "apt-cache": f"echo '  Candidate: {apt}'",
            "apt-get": f"""echo "$*" >>'{self.folder}/asked'
case $* in *swiftlang*) printf '%s\\n' "{INSTALLED}" >'{path}/swift'; /bin/chmod 755 '{path}/swift' ;; esac""",
        })
        if swift:
            put(f"#!/bin/sh\necho 'Swift version {swift} (x)'\n", path / "swift", 0o755)
        return self.again(*words)

    def again(self, *words):
        return run(["/bin/sh", "Scripts/prepare.sh", *words], PATH=str(self.folder / "path"))

    def test_explains(self):
        """on Debian 12, whose apt has no Swift, preparation says where to get it and installs nothing"""
        status, output = self.prepare(apt="(none)")
        self.assertEqual(status, 1)
        self.assertIn("Swift 6.0 or newer is needed, and neither PATH nor apt has it here", output)
        self.assertIn("Debian 12", output)
        self.assertIn("https://download.swift.org/swiftly/linux/", output)
        self.assertNotIn("install", "".join(lines(self.folder / "asked")))

    def test_ordinary_user(self):
        """who may not install anything is told what is missing, and what root has to run"""
        status, output = self.prepare("tests", swift="6.0.3", apt="(none)", user=1000)
        self.assertEqual(status, 1)
        for words in ["only root can install them:", "run as root: apt-get install ", " valgrind"]:
            self.assertIn(words, output)
        self.assertFalse((self.folder / "asked").exists())

    def test_old(self):
        """a Swift that is too old counts as none"""
        status, output = self.prepare(swift="5.10.1", apt="(none)")
        self.assertEqual(status, 1)
        self.assertIn("Swift 6.0 or newer is needed", output)

    def test_ready(self):
        """where apt has Swift it is installed, and where it is there nothing is done or said"""
        status, output = self.prepare(apt="6.0.3-2")
        # Two of the wanted files are looked for below /usr, where this machine may lack them.
        self.assertEqual(status, 0, output)
        self.assertTrue(output.startswith("prepare: installing ") and output.endswith(" swiftlang\n"), output)
        self.assertTrue(lines(self.folder / "asked")[-1].endswith(" swiftlang"))
        status, output = self.again()
        self.assertEqual(status, 0, output)
        self.assertNotIn("swiftlang", output)
        self.assertEqual(sum("swiftlang" in line for line in lines(self.folder / "asked")), 1)

    def test_for_tests(self):
        """what only tests run is installed for tests, and not for a demo or a build"""
        status, output = self.prepare(swift="6.0.3", apt="(none)")
        self.assertEqual(status, 0, output)
        for package in ["umockdev", "python3", "valgrind", "binutils"]:
            self.assertNotIn(package, output)
        status, output = self.prepare("tests", swift="6.0.3", apt="(none)")
        self.assertEqual(status, 0, output)
        # Without the last two, no test counts what an event costs.
        for packages in [" umockdev", " python3", " valgrind binutils "]:
            self.assertIn(packages, output)
