#!/bin/bash
# Builds the release programs into .build/release: small, stripped, Swift's own libraries inside where they can be.
. "$(dirname "$0")/common.sh"
need_swift

# Position-dependent on purpose: measured with a program of this size, the relocations of a position-independent one
# dirty 380 KiB of private memory at start (1300 against 920). The C libraries stay position-independent.
flags=(-Xswiftc -Osize -Xlinker --gc-sections -Xlinker -s -Xswiftc -Xclang-linker -Xswiftc -no-pie)

# Swift's libraries go inside when the toolchain has them as archives and libstdc++, which they need, can be linked.
# Only a link can tell; its answer is kept for this toolchain.
links_statically() {
  local answer
  answer=.build/links-statically-$(swiftc --version 2>/dev/null | cksum | cut -d ' ' -f 1)
  if [ ! -e "$answer" ]; then
    local folder
    folder=$(mktemp -d)
    echo 'import FoundationEssentials' >"$folder/probe.swift"
    mkdir -p .build
    if swiftc -static-stdlib "$folder/probe.swift" -o "$folder/probe" >"$folder/words" 2>&1; then
      echo yes >"$answer"
    else
      echo no >"$answer"
    fi
    rm -r "$folder"
  fi
  [ "$(cat "$answer")" = yes ]
}
if links_statically; then
  flags+=(--static-swift-stdlib)
else
  say "This toolchain cannot link Swift's libraries statically: the programs will need them installed."
fi

swift build -c release "${build_flags[@]}" "${flags[@]}" "$@"
