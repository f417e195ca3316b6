/**
 * Clones a repository with nothing but `sh`, `git`, `du` and `sleep`, so that a pod's container can run it as well as this machine. It reads
 * variables, and prints `commit` and the commit. With `CLONE_SEEN` it prints `seen` and a digest of what the repository says of the ref, and
 * ends there if that is the given one. The content of the repository is data:
 *
 * - no hook, no filter and no monitor runs, since each needs a config, and there is none but the one written here;
 * - no other address is asked: no submodules, no redirects, no protocol but that of the address;
 * - `ulimit -f` bounds a pack while it arrives, `ulimit -v` a tree that names itself many times over, and a look each second the folder
 *   and the time.
 *
 * Credentials are in a file in the format of `git credential-store`, which gives them to the host that they are for.
 */
export const CLONE_SCRIPT = `
set -u
stop() { printf 'clone: %s\\n' "$1" >&2; kill -9 0; }
# The other end of this descriptor is with the process that waits for the clone, and closes with it.
if [ "\${CLONE_LIFELINE-}" ]; then (read -r _ <&3; kill -9 0) & fi
command -v git > /dev/null || { echo 'clone: NO_GIT' >&2; exit 1; }
ulimit -f $((CLONE_KIB * 2)) 2> /dev/null || :
ulimit -v 4194304 2> /dev/null || :
(
  passed=0
  while sleep 1; do
    passed=$((passed + 1))
    [ "$passed" -lt "$CLONE_SECONDS" ] || stop TOO_SLOW
    used=$(du -sk "$CLONE_FOLDER" 2> /dev/null) || :
    used=\${used%%[!0-9]*}
    [ "\${used:-0}" -le "$CLONE_KIB" ] || stop TOO_LARGE
  done
) > /dev/null &
export CLONE_CREDENTIALS HOME=/nonexistent XDG_CONFIG_HOME=/nonexistent LC_ALL=C
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_SYSTEM=/dev/null GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1
export GIT_TERMINAL_PROMPT=0 GIT_ASKPASS= SSH_ASKPASS= GIT_LFS_SKIP_SMUDGE=1 GIT_ALLOW_PROTOCOL="\${CLONE_URL%%:*}"
careful() {
  git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c http.followRedirects=false -c submodule.recurse=false \\
    -c safe.directory='*' -c gc.auto=0 -c maintenance.auto=false -c advice.detachedHead=false -c init.defaultBranch=main \\
    -c credential.helper= -c 'credential.helper=!f() { [ "$1" != get ] || git credential-store --file="$CLONE_CREDENTIALS" get; }; f' "$@"
}
mkdir -p "$CLONE_FOLDER" && cd "$CLONE_FOLDER" || exit 1
careful init -q --template= . || exit 1
careful remote add origin "$CLONE_URL" || exit 1
if [ "\${CLONE_SEEN-}" ]; then
  # In a file, which has bounds: a server may answer without an end.
  careful ls-remote -q origin "$CLONE_REF" "$CLONE_REF^{}" > .git/seen || exit 1
  seen=$(careful hash-object .git/seen) || exit 1
  echo "seen $seen"
  [ "$seen" != "$CLONE_SEEN" ] || exit 0
fi
depth=
[ "$CLONE_DEPTH" -eq 0 ] || depth=--depth=$CLONE_DEPTH
careful fetch -q --no-tags --no-recurse-submodules $depth origin "$CLONE_REF" || exit 1
commit=$(careful rev-parse --verify -q 'FETCH_HEAD^{commit}') || { echo 'clone: NO_COMMIT' >&2; exit 1; }
careful checkout -q --no-recurse-submodules --detach "$commit" || exit 1
used=$(du -sk . 2> /dev/null) || :
used=\${used%%[!0-9]*}
[ "\${used:-0}" -le "$CLONE_KIB" ] || { echo 'clone: TOO_LARGE' >&2; exit 1; }
[ -z "\${CLONE_RESULT-}" ] || echo "commit $commit" > "$CLONE_RESULT"
echo "commit $commit"
`
