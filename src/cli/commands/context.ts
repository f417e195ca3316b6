import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { withCompletion } from '../completed.ts'
import { judgeUrl } from '../connection.ts'
import { CONTEXT_NAME_HELP, type Contexts, isContextName, readContexts, writeContexts } from '../contexts.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { type Io, printJson, printLine } from '../terminal/io.ts'
import { table } from '../terminal/table.ts'

interface ContextOptions {
  readonly json?: boolean
}

/** `phaseline context`: servers by name. Their tokens are those of the sign-ins, which are kept by address. */
export function addContext(context: Command, cli: Cli): void {
  const { io } = cli
  context
    .command('list')
    .description('list them, with the current one')
    .option('--json', 'print JSON')
    .action(({ json }: ContextOptions) => {
      cli.exitCode = list(io, readContexts(io.env), json === true)
    })
  context
    .command('add')
    .description('add a server, or give it another address; the first one is the current one')
    .argument('<name>')
    .argument('<url>', 'GraphQL endpoint')
    .action((name: string, url: string) => {
      cli.exitCode = add(io, name, url)
    })
  withCompletion(context.command('use'), 'context')
    .description('have commands call this server, unless --url or PHASELINE_URL names another')
    .argument('<name>')
    .action((name: string) => {
      cli.exitCode = change(io, name, (all) => ({ ...all, current: name }), `Commands call ${name}.`)
    })
  withCompletion(context.command('remove'), 'context')
    .description('forget a server; its sign-in stays until logout')
    .argument('<name>')
    .action((name: string) => {
      cli.exitCode = change(io, name, (all) => without(all, name), `${name} is forgotten.`)
    })
}

function list({ stdout }: Io, { current, contexts }: Contexts, json: boolean): ExitCode {
  if (json) printJson(stdout, { current, contexts })
  else if (Object.keys(contexts).length === 0) printLine(stdout, 'No context: phaseline context add NAME URL')
  else {
    const rows = Object.entries(contexts).map(([name, { url }]) => [name === current ? '*' : '', name, url])
    for (const line of table(['', 'NAME', 'URL'], rows)) printLine(stdout, line)
  }
  return EXIT.ok
}

function add(io: Io, name: string, url: string): ExitCode {
  const found = judgeUrl(url)
  if (!found.ok) return refuse(io, found.message)
  if (!isContextName(name)) return refuse(io, CONTEXT_NAME_HELP)
  const { current, contexts } = readContexts(io.env)
  const { href } = found.url
  writeContexts(io.env, { current: current ?? name, contexts: { ...contexts, [name]: { url: href } } })
  printLine(io.stdout, `${name} is ${href}`)
  return EXIT.ok
}

function change(io: Io, name: string, to: (all: Contexts) => Contexts, done: string): ExitCode {
  const all = readContexts(io.env)
  if (!Object.hasOwn(all.contexts, name)) {
    const names = Object.keys(all.contexts).join(', ')
    return refuse(io, `There is no context ${name}${names ? `: there are ${names}` : ''}.`)
  }
  writeContexts(io.env, to(all))
  printLine(io.stdout, done)
  return EXIT.ok
}

function without({ current, contexts }: Contexts, name: string): Contexts {
  const { [name]: _, ...rest } = contexts
  return { current: current === name ? null : current, contexts: rest }
}

function refuse({ stderr }: Io, message: string): ExitCode {
  printLine(stderr, message)
  return EXIT.usage
}
