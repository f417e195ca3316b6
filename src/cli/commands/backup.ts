import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { FamilyDefinition } from '../../families/define-family.ts'
import type { BackupSummary } from '../../start/backup-commands.ts'
import type { Cli } from '../cli.ts'
import { withYes } from '../options.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { printJson, printLine, printText } from '../terminal/io.ts'
import { isConfirmed } from '../terminal/terminal-input.ts'

interface Options {
  readonly tools?: string
  readonly json?: boolean
}
interface RestoreOptions extends Options {
  readonly replace?: boolean
  readonly yes?: boolean
  readonly whileInUse?: boolean
  readonly keepAutomation?: boolean
}

const SETTINGS = `
The database is that of \`phaseline serve\`: DATABASE_URL, or the embedded one in PHASELINE_DATA (.phaseline).
docs/backup.md has the whole story.`

/** `phaseline backup`, of the server's own database. It calls no server. */
export function addBackup(command: Command, cli: Cli, families: readonly FamilyDefinition[]): void {
  const { env, signal } = cli.io
  withOptions(command)
    .argument('<file>', 'a file that does not exist')
    .action(async (file: string, { tools, json = false }: Options) => {
      cli.exitCode = await perform(cli, json, async () => {
        // Loaded only here: other commands are clients and must start fast.
        const { runBackup } = await import('../../start/backup-commands.ts')
        const told = await runBackup({ file: resolve(file), env, families, tools: await folderOf(tools), signal })
        return { told, line: `${file} is complete: ${describe(told)}, ${told.bytes} bytes.` }
      })
    })
}

/** `phaseline restore`, of the same. */
export function addRestore(command: Command, cli: Cli, families: readonly FamilyDefinition[]): void {
  const { env, signal } = cli.io
  withYes(withOptions(command))
    .argument('<file>', 'a file that `phaseline backup` has written')
    .option('--replace', 'replace the database of Phaseline that is there')
    .option('--while-in-use', 'although servers or others are connected to the database')
    .option(
      '--keep-automation',
      'schedules, hooks and notifications continue: this database replaces the one that was backed up',
    )
    .action(async (file: string, options: RestoreOptions) => {
      const { tools, json = false, replace = false, whileInUse = false, keepAutomation = false } = options
      if (replace && !(await isConfirmed(cli.io, options, 'Replace the database of Phaseline that is there?'))) {
        cli.exitCode = EXIT.interrupted
        return
      }
      cli.exitCode = await perform(cli, json, async () => {
        const { runRestore } = await import('../../start/backup-commands.ts')
        const given = { file: resolve(file), env, families, tools: await folderOf(tools), signal }
        const told = await runRestore({ ...given, replace, whileInUse, keepAutomation })
        const held = told.isHeld ? ` ${HELD}` : ''
        return { told, line: `${file} is restored: ${describe(told)}. Epoch ${told.epoch} of the log begins.${held}` }
      })
    })
}

const withOptions = (command: Command): Command =>
  command
    .option('--tools <folder>', 'folder of pg_dump and pg_restore (otherwise PATH, and where packages put them)')
    .option('--json', 'print JSON')
    .addHelpText('after', SETTINGS)

/** As it is given to a process of another folder. */
async function folderOf(tools: string | undefined): Promise<string | undefined> {
  if (tools === undefined || (await stat(tools).catch(() => null))?.isDirectory()) return tools && resolve(tools)
  const { BackupProblem } = await import('../../backup/backup-problem.ts')
  throw new BackupProblem('INVALID_INPUT', `--tools: ${tools} is no folder.`)
}

interface Performed {
  readonly told: BackupSummary
  readonly line: string
}

async function perform(cli: Cli, json: boolean, work: () => Promise<Performed>): Promise<ExitCode> {
  const { stdout, stderr } = cli.io
  const { BackupProblem } = await import('../../backup/backup-problem.ts')
  try {
    const { told, line } = await work()
    if (json) printJson(stdout, told)
    else printLine(stdout, line)
    if (told.missingKeys.length > 0) printLine(stderr, warning(told.missingKeys))
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof BackupProblem)) throw error
    const { reason, message } = error
    if (json) printJson(stdout, { error: { code: reason, message } })
    else printText(stderr, `${message}\n`)
    return EXITS[reason]
  }
}

const EXITS = {
  INVALID_INPUT: EXIT.usage,
  REFUSED: EXIT.refused,
  UNAVAILABLE: EXIT.unavailable,
  FAILED: EXIT.failed,
} as const

function describe({ manifest: { rows, log, secretKeys } }: BackupSummary): string {
  const counts = Object.values(rows)
  const keys = secretKeys.map(({ keyId }) => keyId).join(', ')
  return [
    `${counts.length} tables with ${counts.reduce((sum, n) => sum + n, 0)} rows`,
    `the log up to ${log.head}`,
    keys === '' ? 'no secrets' : `secrets sealed with the keys ${keys}`,
  ].join(', ')
}

const HELD =
  'Schedules, hooks and notifications are held, since this may be a copy: `phaseline automation release` releases them.'

const warning = (keys: readonly string[]): string =>
  `These settings lack the keys ${keys.join(', ')}: without them the secrets in it do not open (docs/backup.md).`
