import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { access, mkdtemp, realpath, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { SETTABLE } from '../../client/gadget/gadget-env.ts'
import type { Cli } from '../cli.ts'
import { type CheckedRule, checkGadget } from '../gadget/check-gadget.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { type Io, printJson, printLine } from '../terminal/io.ts'
import { painter, wantsColour } from '../terminal/paint.ts'

interface CheckOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly timeout: number
  readonly grace: number
  readonly json?: boolean
}

/** `phaseline gadget check PATH [-- args]`: checks an executable against docs/gadget-protocol.md. */
export function addGadget(gadget: Command, cli: Cli): void {
  gadget
    .command('check')
    .description('really call an executable in every mode, and say where it breaks the gadget protocol')
    .argument('<path>', 'the executable')
    .argument('[args...]', 'its arguments, after --')
    .option('--env <name=value>', 'a GADGET_… variable; several times', parseSetting)
    .option('--timeout <seconds>', 'how long one call may take', parseSeconds, 60)
    .option('--grace <seconds>', 'how long it may take to end after SIGINT', parseSeconds, 5)
    .option('--json', 'print JSON: one document')
    .action(async (path: string, args: string[], options: CheckOptions) => {
      cli.exitCode = await check(cli.io, path, args, options)
    })
}

async function check(io: Io, path: string, args: readonly string[], options: CheckOptions): Promise<ExitCode> {
  const found = await realpath(path).catch(() => null)
  const problem = found === null ? 'This file does not exist.' : await unusable(found)
  if (found === null || problem !== null) return refuse(io, `${path}: ${problem}`, options.json === true)
  const state = await mkdtemp(join(tmpdir(), 'gadget-check-'))
  const rules: CheckedRule[] = []
  try {
    const { env = {}, timeout, grace } = options
    const times = { callMs: timeout * 1000, graceMs: grace * 1000 }
    const jobId = randomUUID()
    const checks = checkGadget({
      path: found,
      args,
      env: io.env,
      settings: env,
      state,
      jobId,
      ...times,
      signal: io.signal,
    })
    for await (const rule of checks) {
      if (io.signal.aborted) return EXIT.interrupted
      rules.push(rule)
      if (!options.json) tell(io, rule)
    }
  } finally {
    await rm(state, { recursive: true, force: true })
  }
  const ok = rules.every((rule) => rule.ok)
  if (options.json) printJson(io.stdout, { path: found, ok, rules })
  else printLine(io.stdout, summary(rules))
  return ok ? EXIT.ok : EXIT.failed
}

/** Null: the file can be run. */
async function unusable(path: string): Promise<string | null> {
  if (!(await stat(path)).isFile()) return 'It is not a file.'
  const executable = await access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
  return executable ? null : 'It is not executable (chmod +x).'
}

function refuse(io: Io, message: string, json: boolean): ExitCode {
  if (json) printJson(io.stdout, { error: { code: 'INVALID_INPUT', message } })
  else printLine(io.stderr, message)
  return EXIT.usage
}

function tell({ stdout, env }: Io, { rule, problem }: CheckedRule): void {
  const paint = painter(wantsColour(stdout, env))
  printLine(stdout, `${problem === null ? paint('green', 'ok ') : paint('red', 'NOT')} ${rule}`)
  if (problem !== null) printLine(stdout, `    ${problem}`)
}

function summary(rules: readonly CheckedRule[]): string {
  const wrong = rules.filter(({ ok }) => !ok).length
  return wrong === 0 ? `It keeps all ${rules.length} rules.` : `It breaks ${wrong} of ${rules.length} rules.`
}

function parseSeconds(text: string): number {
  const value = Number(text)
  if (!(value > 0 && value <= 86_400)) throw new InvalidArgumentError('Expected seconds, more than 0.')
  return value
}

function parseSetting(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const at = text.indexOf('=')
  const name = text.slice(0, at)
  if (at < 1 || !SETTABLE.test(name)) throw new InvalidArgumentError('Expected GADGET_NAME=value.')
  return { ...before, [name]: text.slice(at + 1) }
}
