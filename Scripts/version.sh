#!/bin/sh
# Prints the version. It stands in one place, in the daemon; the changelog's newest release has the same.
set -eu
cd "$(dirname "$0")/.."
sed -n 's/.*public static let version = "\([0-9.]*\)".*/\1/p' Sources/WakeDaemon/Daemon/Daemon.swift
