# The part of the protocol text-1.0 that a gadget in shell needs; see docs/gadget-protocol.md. POSIX sh:
#
#   . "$(dirname "$0")/lib/gadget.sh"
#   getlocks() { lock "file:$1" X; }
#   run() { step "Making $1"; : > "$1" || fail "It cannot be made."; export_text file "$1"; }
#   undo() { step "Removing $1"; rm -f -- "$1"; }
#   gadget "$@"
#
# Without a function `abort`, an abort is an undo. $PHASELINE_JOB names the job of a task: the same in each call for it.

_line() { printf '%s' "$*" | tr '[:cntrl:]' ' '; }

step() { printf 'STEP %s\n' "$(_line "$@")"; }
# proginfo 12.5 MiB, then: prog 3
proginfo() { printf 'PROGINFO %s %s\n' "$1" "$2"; }
prog() { printf 'PROG %s\n' "$1"; }
# lock scheme:resource S|X; blanks in the resource are escaped
lock() {
  _tab=$(printf '\t')
  printf 'LOCK %s=%s\n' "$(printf '%s' "$1" | sed "s/%/%25/g; s/ /%20/g; s/$_tab/%09/g")" "${2:-X}"
}
# export_json name json
export_json() { printf 'EXPORT %s %s\n' "$1" "$2"; }
# export_text name text
export_text() {
  _text=$(_line "$2" | sed 's/\\/\\\\/g; s/"/\\"/g')
  printf 'EXPORT %s "%s"\n' "$1" "$_text"
}
note() { printf '%s\n' "$*" >&2; }
fail() {
  printf 'Error %s\n' "$(_line "$@")"
  exit 1
}

gadget() {
  _mode=run
  _count=$#
  while [ "$_count" -gt 0 ]; do
    case $1 in
      --protocol=text-1.0 | --protocols=text-1.0) ;;
      --protocol=* | --protocols=*) fail "The protocol ${1#*=} is unknown." ;;
      --getlocks | --undo | --abort) _mode=${1#--} ;;
      *) set -- "$@" "$1" ;;
    esac
    shift
    _count=$((_count - 1))
  done
  if [ "$_mode" = abort ] && ! command -v abort >/dev/null; then _mode=undo; fi
  "$_mode" "$@"
}
