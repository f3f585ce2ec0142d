"""A queue nats:// that asks who comes, over TLS; and what its acknowledgement is worth."""

import pathlib
import shutil
import socket
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402
import stream_pipeline  # noqa: E402

OPENSSL = shutil.which("openssl")


@unittest.skipUnless(stream_pipeline.NATS_SERVER, "nats-server is not installed")
@unittest.skipUnless(OPENSSL, "openssl is not installed")
class Secure(e2e.Case):
    def setUp(self):
        self.started = []
        self.addCleanup(lambda: [(p.kill(), p.wait()) for p in self.started])
        for name in ("ca", "other"):
            self.ssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.pem",
                     "-subj", f"/CN={name}", "-days", "30")
        for name in ("server", "client"):
            self.ssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj",
                     f"/CN={name}")
            (self.folder / f"{name}.ext").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
            self.ssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", f"{name}.pem", "-days", "30",
                     "-extfile", f"{name}.ext")

    def ssl(self, *argv):
        subprocess.run([OPENSSL, *argv], cwd=self.folder, check=True, capture_output=True, timeout=60 * e2e.PATIENCE)

    def serve(self, *config):
        port = stream_pipeline.free_port()
        file = self.folder / f"nats-{port}.conf"
        file.write_text("\n".join((f'listen: "127.0.0.1:{port}"', f'jetstream {{ store_dir: "{self.folder}/js-{port}" }}', *config)) + "\n")
        self.started.append(subprocess.Popen([stream_pipeline.NATS_SERVER, "-c", file], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        end = time.monotonic() + 20 * e2e.PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return port
            except OSError:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.05)

    def work(self, address, env):
        return e2e.twinstack("worker", "--queue", address, "--symbols", stream_pipeline.SYMBOLS, "--idle", "50ms", env={"TWINSTACK_SYSTEM_SYMBOLS": "0", **env},
                             limit_s=25)

    def test_who_may_come_in(self):
        tls = [f'cert_file: "{self.folder}/server.pem"', f'key_file: "{self.folder}/server.key"', f'ca_file: "{self.folder}/ca.pem"']
        user = self.serve("authorization { user: ann, password: s3cret }")
        token = self.serve("authorization { token: t0ken }")
        plain = self.serve("tls { " + ", ".join(tls) + " }")
        mutual = self.serve("tls { " + ", ".join([*tls, "verify: true"]) + " }")
        ca = {"TWINSTACK_NATS_CA": str(self.folder / "ca.pem")}
        other = {"TWINSTACK_NATS_CA": str(self.folder / "other.pem")}
        client = {"TWINSTACK_NATS_CERT": str(self.folder / "client.pem"), "TWINSTACK_NATS_KEY": str(self.folder / "client.key")}
        for name, port, before, env, want in (
                ("no name", user, "", {}, 3), ("a name", user, "", {"TWINSTACK_NATS_USER": "ann", "TWINSTACK_NATS_PASSWORD": "s3cret"}, 0),
                ("a wrong password", user, "", {"TWINSTACK_NATS_USER": "ann", "TWINSTACK_NATS_PASSWORD": "x"}, 3), ("in the address", user, "ann:s3cret@", {}, 0),
                ("wrong in the address", user, "ann:wr0ng@", {}, 3), ("a token", token, "", {"TWINSTACK_NATS_TOKEN": "t0ken"}, 0),
                ("no token", token, "", {}, 3), ("TLS with its authority", plain, "", ca, 0), ("TLS with another authority", plain, "", other, 3),
                ("an authority that is no file", plain, "", {"TWINSTACK_NATS_CA": "/nowhere"}, 3), ("no certificate", mutual, "", ca, 3),
                ("a certificate", mutual, "", {**ca, **client}, 0), ("credentials that are no file", user, "", {"TWINSTACK_NATS_CREDS": "/nowhere"}, 3)):
            with self.subTest(name):
                done = self.work(f"nats://{before}127.0.0.1:{port}", env)
                if "libnats" in done.stderr:
                    self.skipTest(done.stderr)
                self.assertEqual(done.returncode, want, done.stderr)
                self.assertNotIn("s3cret", done.stderr)
                self.assertNotIn("wr0ng", done.stderr)
                if want == 3:
                    self.assertIn("TWINSTACK_NATS_", done.stderr)

    def test_an_acknowledgement_that_is_not_durable_is_said(self):
        port = self.serve()
        address = f"nats://127.0.0.1:{port}"
        for name, env, want in (("not stated", {}, True), ("stated", {"TWINSTACK_NATS_SYNC": "always"}, False), ("otherwise", {"TWINSTACK_NATS_SYNC": "2m"}, True)):
            with self.subTest(name):
                done = self.work(address, env)
                if "libnats" in done.stderr:
                    self.skipTest(done.stderr)
                self.assertEqual("sync_interval: always" in done.stderr, want, done.stderr)
        stream = {"name": "TWINSTACK_DEAD", "subjects": ["twinstack.dead"], "retention": "limits", "storage": "memory", "max_consumers": -1, "max_msgs": -1,
                  "max_bytes": 1 << 20, "discard": "new", "num_replicas": 1}
        self.assertNotIn("error", stream_pipeline.ask_jetstream(port, "$JS.API.STREAM.DELETE.TWINSTACK_DEAD", {}))
        self.assertNotIn("error", stream_pipeline.ask_jetstream(port, "$JS.API.STREAM.CREATE.TWINSTACK_DEAD", stream))
        self.assertIn("kept in memory", self.work(address, {"TWINSTACK_NATS_SYNC": "always"}).stderr)


if __name__ == "__main__":
    e2e.main()
