#!/bin/bash
# Builds the programs for debugging into .build/debug.
. "$(dirname "$0")/common.sh"
need_swift
swift build "${build_flags[@]}" "$@"
