"""Scripts/debian13.sh and Scripts/arm64.sh on machines that cannot make a Debian."""
from bench import InFolder, run


class Debian13Tests(InFolder):
    def build(self, script, user):
        """The script with all of PATH in a folder, where it can do no more than ask who you are."""
        self.lend(self.folder, ["dirname"])
        self.programs(self.folder, {"id": f"echo {user}"})
        return run(["/bin/sh", f"Scripts/{script}.sh"], PATH=str(self.folder))

    def test_ordinary_user(self):
        """an ordinary user is told in one sentence that only root can build there, and the build fails"""
        for script, work in [("debian13", "build in a Debian 13 of its own"), ("arm64", "build for arm64")]:
            sentence = f"{script}: only root can {work}: run it as root, or with sudo\n"
            self.assertEqual(self.build(script, 1000), (1, sentence))

    def test_without_apt(self):
        """where there is no apt-get, one sentence says so, and the build fails"""
        for script in ["debian13", "arm64"]:
            self.assertEqual(self.build(script, 0), (1, f"{script}: there is no apt-get here to make a Debian with\n"))
