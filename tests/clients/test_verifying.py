"""The examples of docs/webhooks/verifying.md, as a reader copies them: each in its language on the same deliveries."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.signed import deliveries
from tests.world.serving import ROOT

PAGE = ROOT / "docs/webhooks/verifying.md"

PYTHON = """
import json, sys
from verify import verify
print(json.dumps([
    verify(one["body"].encode(), one["headers"], one["secrets"], now=one["now"]) for one in json.load(sys.stdin)
]))
"""
NODE = """
import { readFileSync } from "node:fs";
import { verify } from "./verify.mjs";
const all = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(all.map((one) => verify(Buffer.from(one.body), one.headers, one.secrets, 300, one.now))));
"""
GO = """
package main

import (
	"encoding/json"
	"os"
	"strings"
	"time"

	"example/webhook"
)

type delivery struct {
	Body    string
	Headers map[string]string
	Secrets []string
	Now     int64
}

func main() {
	var all []delivery
	if err := json.NewDecoder(os.Stdin).Decode(&all); err != nil {
		panic(err)
	}
	results := []bool{}
	for _, one := range all {
		headers := one.Headers
		header := func(name string) string { return headers[strings.ToLower(name)] }
		results = append(results, webhook.Verify([]byte(one.Body), header, one.Secrets, 5*time.Minute, time.Unix(one.Now, 0)))
	}
	json.NewEncoder(os.Stdout).Encode(results)
}
"""
RUBY = """
require "json"
require_relative "verify"
all = JSON.parse($stdin.read.force_encoding("UTF-8"))
puts JSON.generate(all.map { |one| verify(one["body"], one["headers"], one["secrets"], now: one["now"]) })
"""
PHP = """<?php
require __DIR__ . '/verify.php';
$all = json_decode(stream_get_contents(STDIN), true, 64, JSON_THROW_ON_ERROR);
echo json_encode(array_map(fn($one) => verify($one['body'], $one['headers'], $one['secrets'], 300, $one['now']), $all));
"""

# Language of the block, the file that it becomes, the program around it, and how that is run.
LANGUAGES = {
    "python": ("verify.py", ("main.py", PYTHON), [sys.executable, "main.py"]),
    "javascript": ("verify.mjs", ("main.mjs", NODE), ["node", "main.mjs"]),
    "go": ("webhook/verify.go", ("main.go", GO), ["go", "run", "."]),
    "ruby": ("verify.rb", ("main.rb", RUBY), ["ruby", "-W", "main.rb"]),
    "php": ("verify.php", ("main.php", PHP), ["php", "-d", "error_reporting=E_ALL", "main.php"]),
}


def block(language: str) -> str:
    """The one example in a language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return found


def run(language: str, folder: Path, example: str) -> list[bool]:
    """What a receiver in that language believes of each delivery."""
    name, (driver, program), argv = LANGUAGES[language]
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(example, "utf-8")
    (folder / driver).write_text(program, "utf-8")
    (folder / "go.mod").write_text("module example\n\ngo 1.19\n")
    done = subprocess.run(
        argv,
        cwd=folder,
        input=json.dumps([delivery.as_json() for delivery in deliveries()]).encode(),
        capture_output=True,
        timeout=240,
        env=dict(os.environ) | {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local", "GO111MODULE": "on"},
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    assert done.stderr == b""
    return json.loads(done.stdout)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_believes_what_is_ours_and_nothing_else(language, tmp_path):
    program = LANGUAGES[language][2][0]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not on this machine")
    told = run(language, tmp_path, block(language))
    wanted = {delivery.name: delivery.is_good for delivery in deliveries()}
    assert dict(zip(wanted, told, strict=True)) == wanted


def test_the_deliveries_find_a_verifier_that_is_too_trusting(tmp_path):
    """The cases are not blind: without any one of its checks the example believes something that it must not."""
    example = block("python")
    wanted = [delivery.is_good for delivery in deliveries()]
    for check, instead in (
        ("> tolerance", "> 10**18"), ("abs(", "("), ("bool(key) and ", ""), ("hmac.compare_digest(expected, offered.encode())", "True"),
        ("{message_id}.", ""), ("{stamp}.", ""), ("+ body", ""), ('b"v1," + ', ""), (".split()", "[:47].split()"),
    ):  # fmt: skip
        assert check in example
        assert run("python", tmp_path, example.replace(check, instead)) != wanted, check


def test_the_page_shows_five_languages():
    assert set(re.findall(r"^```(\w+)$", PAGE.read_text("utf-8"), re.MULTILINE)) == set(LANGUAGES)
