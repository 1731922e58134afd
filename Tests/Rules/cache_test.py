"""Scripts/cache.sh: which compilers replay what they compiled before, and where they keep it."""
from bench import ROOT, InFolder, run


class CacheTests(InFolder):
    def options(self, version="6.3.1", **environment):
        """The options of a build by this user, with a compiler of this version."""
        path = self.folder / "path"
        self.lend(path, ["cut", "du", "head", "mkdir", "rm", "sed"])
        self.programs(path, {"swift": f"echo 'Swift version {version} (x)'"})
        status, output = run(["/bin/sh", str(ROOT / "Scripts/cache.sh")], self.folder, PATH=str(path), **environment)
        self.assertEqual(status, 0, output)
        return output

    def test_shared(self):
        """all clones of a user share the cache of the compiler"""
        self.assertIn(f"{self.folder}/caches/wakebridge/compiled", self.options(XDG_CACHE_HOME=f"{self.folder}/caches"))
        for without in ["", f"{self.folder}/two words"]:
            self.assertIn(f"{self.folder}/.build/compiled", self.options(HOME=without))

    def test_older(self):
        """a compiler that cannot replay is given no option"""
        for version in ["6.0.3", "6.2", "5.10"]:
            self.assertEqual(self.options(version), "")
        for version in ["6.3", "6.10.1", "7.0"]:
            self.assertIn("-cache-compile-job", self.options(version))

    def test_limit(self):
        """a cache over its limit is emptied before a build"""
        kept = self.folder / ".build" / "compiled" / "kept"
        self.options(HOME="")
        kept.write_bytes(b"x" * (2 << 20))
        self.options(HOME="", CACHE_LIMIT_MIB="8")
        self.assertTrue(kept.exists())
        self.options(HOME="", CACHE_LIMIT_MIB="1")
        self.assertFalse(kept.exists())
