import type { Command } from 'commander'
import type { Cli } from '../../src/cli/cli.ts'
import { follow } from '../../src/cli/objects/follow.ts'
import { addObjectList, type ObjectDocument } from '../../src/cli/objects/object-list.ts'
import { markedPhase, type ShownPhase } from '../../src/cli/objects/phases.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../../src/cli/session.ts'
import { ask } from '../../src/cli/terminal/ask.ts'
import { EXIT, type ExitCode } from '../../src/cli/terminal/exit.ts'
import { REFUSAL_FRAGMENT } from '../../src/client-model/index.ts'
import type { TypedDocument } from '../../src/documents/typed-document.ts'
import type { FamilyCli } from '../../src/families/define-family.ts'
import type { CreateBackup } from './commands.ts'

interface CreateOptions extends Omit<CreateBackup, 'name'> {
  readonly wait?: boolean
}
interface NewBackup {
  readonly __typename: 'Backup'
  readonly id: string
  readonly name: string
  readonly phase: string
}

// The product's schema.graphql does not have it, so its types stand here.
const CREATE = `mutation CreateBackup($input: CreateBackupInput!) {
  answer: createBackup(input: $input) { __typename ... on Backup { id name phase } ...Refusal }
}\n${REFUSAL_FRAGMENT}` as string &
  TypedDocument<{ readonly answer: NewBackup | null }, { readonly input: CreateBackup }>

const LIST = `query ListBackups($filter: ObjectFilter, $first: Int!, $after: String) {
  objects(filter: $filter, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { ... on Backup { id name phase phaseClass volume } } }
  }
}` as ObjectDocument<{ readonly name: string; readonly volume: string } & ShownPhase>
const addBackupList = (command: Command, cli: Cli): Command =>
  addObjectList(command, cli, {
    kind: 'BACKUP',
    document: LIST,
    key: 'backups',
    columns: { NAME: ({ name }) => name, PHASE: markedPhase, VOLUME: ({ volume }) => volume },
  }).description('list backups')

/** `phaseline volume-backup create|list`. Cancellation and deletion are the same for all kinds. */
function addBackup(backup: Command, cli: Cli): void {
  withSessionOptions(backup.command('create'))
    .description('copy a volume')
    .argument('<name>', 'name of the backup')
    .requiredOption('--volume <volume>', 'volume to copy')
    .option('--project <name>', 'project', 'default')
    .option('--wait', 'follow it until it is kept, or could not be copied')
    .action(async (name: string, options: SessionOptions & CreateOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => create(session, name, options))
    })
  addBackupList(backup.command('list'), cli)
}

async function create(session: Session, name: string, { project, volume, wait }: CreateOptions): Promise<ExitCode> {
  const outcome = await ask(session, CREATE, { project, name, volume })
  if (!outcome.ok) return session.refuse(outcome.refusal)
  const { id, phase } = outcome.value
  session.emit({ id, name, phase })
  session.say(`${project}/${name} created, now ${phase}`)
  return wait ? await follow(session, id, (result) => result.outcome === 'succeeded') : EXIT.ok
}

export const cli: FamilyCli = {
  commands: [
    { usage: 'volume-backup', group: 'Work', description: 'backups: copies of volumes', load: async () => addBackup },
  ],
}
