"""A model Hub in one process, for tests: the part of the Hub's protocol that pushing and loading a model needs.

    python tests/fake_hub.py [PORT]

serves on 127.0.0.1 until it is stopped, prints its address, and keeps all in memory. Weights travel as in Git LFS,
other files inside the commit. Of its own it has

- GET /fake/log: methods and paths of all requests so far,
- POST /fake/cut: the next upload of weights is cut off in the middle, and refused from then on,
- POST /fake/mend: uploads work again.
"""

import base64
import hashlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

OWNER = "somebody"


class Repository:
    """Commits, the newest last, each with all its files."""

    def __init__(self, private: bool):
        self.private = private
        self.commits: list[tuple[str, str, dict[str, bytes]]] = []
        self.commit("initial commit", {".gitattributes": b"*.safetensors filter=lfs\n"}, [])

    def commit(self, title: str, added: dict[str, bytes], deleted: list[str]) -> str:
        files = dict(self.commits[-1][2]) if self.commits else {}
        for path in deleted:
            del files[path]
        files |= added
        content = [str(len(self.commits)), *(f"{path} {blob_id(files[path])}" for path in sorted(files))]
        sha = hashlib.sha1("\n".join(content).encode()).hexdigest()
        self.commits.append((sha, title, files))
        return sha

    def at(self, revision: str) -> tuple[str | None, dict[str, bytes]]:
        for sha, _, files in reversed(self.commits):
            if revision in ("main", "HEAD", sha):
                return sha, files
        return None, {}


def blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def large_id(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int):
        super().__init__(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.lock = threading.Lock()
        self.repositories: dict[str, Repository] = {}
        self.large: dict[str, bytes] = {}  # by SHA-256
        self.log: list[str] = []
        self.upload = "works"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *arguments) -> None:
        pass

    def answer(self, status: int, content: object = b"", **headers: str) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/octet-stream" if body is content else "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, status: int, code: str, message: str) -> None:
        self.answer(status, {"error": message}, X_Error_Code=code, X_Error_Message=message)

    def handle_request(self) -> None:
        url = urlsplit(self.path)
        parts = [unquote(part) for part in url.path.strip("/").split("/")]
        with self.server.lock:
            self.server.log.append(f"{self.command} {self.path}")
            if parts[0] == "large":
                return self.large_file(parts[1])
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if parts[0] == "fake":
                return self.fake(parts[1])
            if self.command in ("POST", "PUT") and not self.headers.get("Authorization", "").startswith("Bearer "):
                return self.refuse(401, "Unauthorized", "Invalid username or password.")
            if parts[:3] == ["api", "repos", "create"]:
                return self.create(json.loads(body))
            if parts[:2] == ["api", "validate-yaml"]:
                return self.answer(200, {"errors": [], "warnings": []})
            if parts[2:] == ["info", "lfs", "objects", "batch"]:
                return self.large_files(json.loads(body)["objects"])
            if parts[:2] == ["api", "models"] and len(parts) >= 4:
                return self.model("/".join(parts[2:4]), parts[4:], body)
            if parts[2:3] == ["resolve"]:
                return self.resolve("/".join(parts[:2]), parts[3], "/".join(parts[4:]))
        self.refuse(404, "RepoNotFound", f"no such route: {self.path}")

    do_GET = do_POST = do_HEAD = do_PUT = handle_request

    def fake(self, wish: str) -> None:
        if wish != "log":
            self.server.upload = {"cut": "is cut", "mend": "works"}[wish]
        self.answer(200, self.server.log)

    def create(self, wanted: dict) -> None:
        name = f"{wanted.get('organization') or OWNER}/{wanted['name']}"
        answer = {"url": f"{self.server.url}/{name}", "name": name, "id": name}
        if name in self.server.repositories:
            return self.answer(409, {**answer, "error": "You already created this model repo"})
        # Newer clients name the visibility, older ones say whether it is private.
        private = wanted.get("visibility") == "private" or bool(wanted.get("private"))
        self.server.repositories[name] = Repository(private)
        self.answer(200, answer)

    def large_files(self, wanted: list[dict]) -> None:
        """Tell where to upload what is not here yet."""
        objects = []
        for one in wanted:
            entry = {"oid": one["oid"], "size": one["size"]}
            if one["oid"] not in self.server.large:
                entry["actions"] = {"upload": {"href": f"{self.server.url}/large/{one['oid']}"}}
            objects.append(entry)
        self.answer(200, {"transfer": "basic", "objects": objects})

    def large_file(self, oid: str) -> None:
        size = int(self.headers["Content-Length"])
        if self.server.upload == "is cut":
            self.rfile.read(size // 2)
            self.server.upload = "is refused"
            self.close_connection = True
            return self.connection.close()
        content = self.rfile.read(size)
        if self.server.upload == "is refused":
            return self.refuse(403, "Forbidden", "Request has expired")
        if large_id(content) != oid:
            return self.refuse(400, "BadRequest", "the content is not that of its SHA-256")
        self.server.large[oid] = content
        self.answer(200)

    def model(self, name: str, rest: list[str], body: bytes) -> None:
        repository = self.server.repositories.get(name)
        if repository is None:
            return self.refuse(404, "RepoNotFound", "Repository not found")
        action, revision, *inside = [*rest, *["revision", "main"][len(rest) :]]
        sha, files = repository.at(revision)
        if sha is None:
            return self.refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        if action == "preupload":
            return self.preupload(json.loads(body)["files"], files)
        if action == "commit":
            return self.commit(repository, name, [json.loads(line) for line in body.splitlines()])
        if action == "revision":
            return self.answer(200, self.info(name, repository, sha, files))
        if action == "tree":
            folder = "/".join(inside)
            found = [
                {"type": "file", "path": path, "size": len(content), "oid": blob_id(content)}
                for path, content in sorted(files.items())
                if not folder or path.startswith(f"{folder}/")
            ]
            return self.answer(200, found) if found else self.refuse(404, "EntryNotFound", "does not exist")
        self.refuse(404, "EntryNotFound", f"no such route: {self.path}")

    def info(self, name: str, repository: Repository, sha: str, files: dict[str, bytes]) -> dict:
        card = files.get("README.md", b"").decode()
        return {
            "_id": name, "id": name, "modelId": name, "author": name.split("/")[0], "sha": sha, "tags": [],
            "private": repository.private, "gated": False, "disabled": False, "downloads": 0, "likes": 0,
            # As on the Hub, it is the card that says what the model is for.
            "pipeline_tag": "translation" if "pipeline_tag: translation" in card else None,
            "library_name": "transformers",
            "siblings": [{"rfilename": path} for path in sorted(files)],
        }  # fmt: skip

    def preupload(self, wanted: list[dict], files: dict[str, bytes]) -> None:
        answers = []
        for one in wanted:
            path = one["path"]
            mode = "lfs" if path.endswith(".safetensors") else "regular"
            name_of = large_id if mode == "lfs" else blob_id
            known = {"oid": name_of(files[path])} if path in files else {}
            answers.append({"path": path, "uploadMode": mode, "shouldIgnore": False, **known})
        self.answer(200, {"files": answers})

    def commit(self, repository: Repository, name: str, lines: list[dict]) -> None:
        title, added, deleted = "", {}, []
        for line in lines:
            kind, value = line["key"], line["value"]
            if kind == "header":
                title = value["summary"]
            elif kind == "file":
                added[value["path"]] = base64.b64decode(value["content"])
            elif kind == "lfsFile" and value["oid"] in self.server.large:
                added[value["path"]] = self.server.large[value["oid"]]
            elif kind == "deletedFile":
                deleted.append(value["path"])
            else:
                return self.refuse(400, "BadRequest", f"cannot be committed: {line}")
        sha = repository.commit(title, added, deleted)
        self.answer(200, {"commitUrl": f"{self.server.url}/{name}/commit/{sha}", "commitOid": sha})

    def resolve(self, name: str, revision: str, path: str) -> None:
        repository = self.server.repositories.get(name)
        if repository is None:
            return self.refuse(404, "RepoNotFound", "Repository not found")
        sha, files = repository.at(revision)
        if sha is None:
            return self.refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        if path not in files:
            return self.answer(404, {"error": "Entry not found"}, X_Error_Code="EntryNotFound", X_Repo_Commit=sha)
        self.answer(200, files[path], ETag=f'"{blob_id(files[path])}"', X_Repo_Commit=sha, Accept_Ranges="bytes")


if __name__ == "__main__":
    server = Server(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    print(server.url, flush=True)
    server.serve_forever()
