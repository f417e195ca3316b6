import { type Command, Option } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import type { Located } from '../../../cli/objects/address.ts'
import { follow } from '../../../cli/objects/follow.ts'
import { onObjects, type PendingExit } from '../../../cli/objects/object-command.ts'
import type { Session } from '../../../cli/session.ts'
import { ask } from '../../../cli/terminal/ask.ts'
import { EXIT } from '../../../cli/terminal/exit.ts'
import { REFUSAL_FRAGMENT } from '../../../client-model/index.ts'
import { gql } from '../../../documents/gql.ts'

interface ReconcileOptions {
  readonly mode: string
  readonly wait?: boolean
}

const MODES = { standard: 'STANDARD', 'if-changed': 'IF_CHANGED', force: 'FORCE' } as const
/** The verb of the dashboard that asks for the same. */
const VERBS: Readonly<Record<string, string>> = { STANDARD: 'reconcile', IF_CHANGED: 'retry' }
const EFFECTS = gql('query ReconcileEffects($id: ID!) { object(id: $id) { verbs { name effect } } }')
const RECONCILE = gql(`mutation Reconcile($input: ReconcileInstallationInput!) {
  answer: reconcileInstallation(input: $input) { __typename ... on Installation { id name phase jobId } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

/** `phaseline reconcile NAME…`: requests a job over a root's tree. */
export function addReconcile(command: Command, cli: Cli): void {
  onObjects<ReconcileOptions>(command, cli, reconcile, {
    verb: ({ mode }) => (MODES[mode as keyof typeof MODES] === 'STANDARD' ? 'reconcile' : null),
    isWanted: ({ outcome }) => outcome === 'succeeded',
  })
    .addOption(
      new Option(
        '--mode <mode>',
        'what to run again: all, or what has changed or not succeeded; force waits for no other root',
      )
        .choices(Object.keys(MODES))
        .default('standard'),
    )
    .option('--wait', 'follow the trees until they are finished')
}

async function reconcile(session: Session, { id }: Located, options: ReconcileOptions): Promise<PendingExit> {
  const mode = MODES[options.mode as keyof typeof MODES]
  const { object } = await session.client.query(EFFECTS, { id }, { signal: session.io.signal })
  const effect = object?.verbs.find(({ name: verb }) => verb === VERBS[mode])?.effect
  const outcome = await ask(session, RECONCILE, { id, mode })
  if (!outcome.ok) return session.refuse(outcome.refusal)
  session.emit(outcome.value)
  session.say(`${outcome.value.name} asked to reconcile (${mode}), now ${outcome.value.phase}`)
  if (effect) session.say(effect)
  if (!options.wait) return EXIT.ok
  return () => follow(session, id, (result) => result.outcome === 'succeeded')
}
