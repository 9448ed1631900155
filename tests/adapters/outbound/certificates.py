"""Self-signed certificates."""

import ssl
import subprocess
from pathlib import Path


def make_certificate(directory: Path, *alternatives: str) -> Path:
    """Create a self-signed certificate with its key in one file, for names such as DNS:localhost or IP:127.0.0.1."""
    path = directory / "server.pem"
    command = ["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    command += ["-days", "2", "-subj", "/CN=test", "-addext", f"subjectAltName={','.join(alternatives)}"]
    command += ["-keyout", str(path), "-out", str(directory / "certificate.pem")]
    subprocess.run(command, check=True, capture_output=True)
    path.write_text(path.read_text() + (directory / "certificate.pem").read_text())
    return path


def server_context(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context
