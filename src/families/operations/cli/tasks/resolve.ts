import type { Located } from '../../../../cli/objects/address.ts'
import type { Session } from '../../../../cli/session.ts'
import { ask } from '../../../../cli/terminal/ask.ts'
import { EXIT, type ExitCode } from '../../../../cli/terminal/exit.ts'
import { REFUSAL_FRAGMENT } from '../../../../client-model/index.ts'
import { gql } from '../../../../documents/gql.ts'

export type Decision = 'RETRY' | 'GIVE_UP'

const RESOLVE = gql(`mutation ResolveUndo($input: ResolveUndoInput!) {
  answer: resolveUndo(input: $input) { __typename ... on GadgetJob { id kind name phase } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

/** `undo resolve`: decides on a job that could not be undone. */
export async function resolveUndo(session: Session, job: Located, decision: Decision): Promise<ExitCode> {
  const outcome = await ask(session, RESOLVE, { id: job.id, decision })
  if (!outcome.ok) return session.refuse(outcome.refusal)
  const { id, kind, name, phase } = outcome.value
  session.emit({ id, kind, name, phase })
  const done = decision === 'RETRY' ? 'is undone again' : 'is given up, its locks are released'
  session.say(`${job.project.name}/${job.root.name}/${name} ${done}, now ${phase}`)
  return EXIT.ok
}
