import type { Command } from 'commander'
import { printProblems } from '../../client/agent/print-problems.ts'
import { AGENT_OPTIONS } from '../../core/agent-options.ts'
import type { FamilyDefinition } from '../../families/define-family.ts'
import type { Cli } from '../cli.ts'
import { findUrl, tokenSetting } from '../connection.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { printLine, printText } from '../terminal/io.ts'

type Programs = NonNullable<FamilyDefinition['programs']>

/** `phaseline agent`: built-in agents as a process of this machine, beside a server anywhere. */
export function addAgent(command: Command, cli: Cli, families: readonly FamilyDefinition[]): void {
  const programs: Programs = Object.assign({}, ...families.map(({ programs }) => programs))
  command.addHelpText('after', describePrograms(programs))
  for (const [name, [value, description]] of Object.entries(AGENT_OPTIONS))
    command.option(`--${name} <${value}>`, description)
  // The help lists these by type, since one name may mean different things to two programs.
  for (const name of new Set(Object.values(programs).flatMap(({ options = {} }) => Object.keys(options))))
    command.addOption(command.createOption(`--${name} <value>`).hideHelp())
  command.action(async (values: Readonly<Record<string, string | undefined>>) => {
    const given = command.options.map((option) => [option.name(), values[option.attributeName()]] as const)
    cli.exitCode = await runAgents(cli, programs, Object.fromEntries(given))
  })
}

function describePrograms(programs: Programs): string {
  const sections = Object.entries(programs).map(([type, { title, options = {} }]) => [
    `  ${type.padEnd(20)} ${title}`,
    ...Object.entries(options).map(([name, description]) => `    --${name.padEnd(16)} ${description}`),
  ])
  return `\nTypes, with the options that only they have:\n${sections.flat().join('\n')}`
}

async function runAgents(
  { io }: Cli,
  programs: Programs,
  given: Readonly<Record<string, string | undefined>>,
): Promise<ExitCode> {
  const found = await findUrl(given, io.env)
  if (!found.ok) {
    printLine(io.stderr, found.message)
    return EXIT.usage
  }
  const isInFile = tokenSetting({}, io.env) === 'PHASELINE_TOKEN_FILE'
  const tokenFile = given['token-file'] ?? (isInFile ? io.env.PHASELINE_TOKEN_FILE : undefined)
  // Loaded only here: every other command starts without the agents.
  const { runAgents, UsageError } = await import('../../agents/run-agents.ts')
  const print = (text: string): void => printText(io.stderr, `${text}\n`)
  const printers = new Map(Object.keys(programs).map((type) => [type, printProblems(`Agent of ${type}`, { print })]))
  try {
    await runAgents({
      options: { ...given, url: found.url.href, 'token-file': tokenFile },
      programs,
      env: io.env,
      signal: io.signal,
      onProblem: (type, problem) => printers.get(type)?.(problem),
      onStart: ({ types, url }, name) => print(`${name} works on ${types.join(', ')} for ${url}. Ctrl-C ends it.`),
    })
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    printLine(io.stderr, error.message)
    return EXIT.usage
  }
}
