import type { Command } from 'commander'

/** Options of every command that calls a server, and whether each takes a value. */
const GLOBAL: Readonly<Record<string, boolean>> = {
  '--url': true,
  '--token-file': true,
  '--json': false,
  '--format': true,
  '-o': true,
}

/**
 * Moves such options from before a command, where users also write them, to behind it, where commander expects them:
 * `phaseline --json token list` is `phaseline token list --json`.
 */
export function withGlobalOptions(argv: readonly string[], program: Command): readonly string[] {
  const moved: string[] = []
  const path: string[] = []
  let command = program
  let at = 0
  while (at < argv.length) {
    const word = argv[at] ?? ''
    const [name = ''] = word.split('=', 1)
    const takesValue = GLOBAL[name]
    if (takesValue !== undefined) {
      const count = takesValue && word === name ? 2 : 1
      moved.push(...argv.slice(at, at + count))
      at += count
      continue
    }
    const next = command.commands.find((one) => one.name() === word)
    if (!next) break
    path.push(word)
    command = next
    at += 1
  }
  return path.length === 0 ? argv : [...path, ...moved, ...argv.slice(at)]
}
