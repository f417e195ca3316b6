import type { Command } from 'commander'
import { notFoundRefusal } from '../../client-model/index.ts'
import type { ObjectKind } from '../../core/vocabulary.ts'
import { gql } from '../../documents/gql.ts'
import type { ResultOf } from '../../documents/typed-document.ts'
import type { Cli } from '../cli.ts'
import { checkWords } from '../objects/check-words.ts'
import { parseKind } from '../options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { table } from '../terminal/table.ts'
import { words } from '../terminal/text.ts'

interface MachinesOptions extends SessionOptions {
  readonly mermaid?: boolean
}

const MACHINES = gql(`query Machines($kind: ObjectKind) {
  stateMachines(kind: $kind) { name kinds phases initial final transitions { from actor to reason } mermaid }
}`)
type StateMachine = ResultOf<typeof MACHINES>['stateMachines'][number]

/** `phaseline machines [KIND]`: the tables that judge every phase change. */
export function addMachines(command: Command, cli: Cli): void {
  withSessionOptions(command)
    .argument('[kind]', 'only those of this kind, e.g. deploy-item', parseKind)
    .option('--mermaid', 'as a Mermaid diagram')
    .action(async (kind: ObjectKind | undefined, options: MachinesOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => machines(session, kind, options))
    })
}

async function machines(session: Session, kind: ObjectKind | undefined, options: MachinesOptions): Promise<ExitCode> {
  const wrong = await checkWords(session, kind === undefined ? {} : { kinds: [kind] })
  if (wrong) return session.refuse(wrong)
  const { stateMachines } = await session.client.query(MACHINES, kind === undefined ? {} : { kind }, {
    signal: session.io.signal,
  })
  if (stateMachines.length === 0) return session.refuse(notFoundRefusal('The server knows no machine of this kind.'))
  session.emit(stateMachines)
  for (const machine of stateMachines)
    session.say(...(options.mermaid ? machine.mermaid.split('\n') : describe(machine)))
  return EXIT.ok
}

const describe = ({ name, kinds, initial, final, transitions }: StateMachine): string[] => [
  `${name} (${kinds.map(words).join(', ')}): starts ${initial}, ends ${final.join(', ')}`,
  ...table(
    ['FROM', 'ACTOR', 'TO', 'WHY'],
    transitions.map(({ from, actor, to, reason }) => [from, actor, to, reason]),
  ).map((line) => `  ${line}`),
  '',
]
