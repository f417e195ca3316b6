import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Cli } from '../cli.ts'
import { parseLength, withYes } from '../options.ts'
import { type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import type { Confirmable } from '../terminal/terminal-input.ts'
import { type CreateTokenOptions, createToken } from '../tokens/create.ts'
import { addTokenList } from '../tokens/list.ts'
import { revokeToken } from '../tokens/revoke.ts'

/** `phaseline token create|list|revoke`: for agents, programs and people. */
export function addToken(token: Command, cli: Cli): void {
  withSessionOptions(token.command('create'))
    .description('create a token; its secret is shown once, on standard output, or written into a file')
    .argument('<name>', 'recorded as the author of every phase change')
    .addOption(
      new Option(
        '--role <role>',
        'admin, user (reads and writes), reader, monitor (reads metrics), or agent (claims work)',
      )
        .argParser(parseOneOf<CreateTokenOptions['role']>('ADMIN', 'USER', 'READER', 'MONITOR', 'AGENT'))
        .makeOptionMandatory(),
    )
    .option(
      '--actor <actor>',
      'agents: deployer (default), runtime, gadget-runner or crm',
      parseOneOf<NonNullable<CreateTokenOptions['actor']>>('DEPLOYER', 'RUNTIME', 'GADGET_RUNNER', 'CRM'),
    )
    .option('--type <types>', 'agents: only work of these types (default: all)', parseList)
    .option('--target <targets>', 'agents: only work for these targets (default: all)', parseList)
    .option('--project <projects>', 'only these projects (default: all)', parseList)
    .option('--expires <duration>', 'valid for so long, such as 12h or 90d (default: for ever)', parseLength)
    .option('--key <key>', 'idempotency key: the same again within a day is the same token, as long as nobody uses it')
    .option('--secret-file <file>', 'write the secret into this new file, which only you may read')
    .option('-q, --quiet', 'print the secret and nothing else')
    .action(async (name: string, options: SessionOptions & CreateTokenOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => createToken(session, name, options))
    })
  addTokenList(token.command('list'), cli).description('list tokens, the newest first, without their secrets')
  withYes(withSessionOptions(token.command('revoke')))
    .description('revoke a token: what uses it is refused within 2 seconds')
    .argument('<token>', 'its id, or its name if no other has it')
    .action(async (text: string, options: SessionOptions & Confirmable) => {
      cli.exitCode = await withSession(cli.io, options, (session) => revokeToken(session, text, options))
    })
}

/** One of these constants, in any of the usual spellings. */
const parseOneOf =
  <Word extends string>(...known: readonly Word[]) =>
  (text: string): Word => {
    const constant = text.trim().toUpperCase().replaceAll('-', '_')
    const found = known.find((word) => word === constant)
    if (found) return found
    const spelt = known.map((word) => word.toLowerCase().replaceAll('_', '-'))
    throw new InvalidArgumentError(`Expected one of ${spelt.join(', ')}.`)
  }

const parseList = (text: string, before: readonly string[] = []): string[] => [...before, ...text.split(',')]
