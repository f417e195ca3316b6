import { readNodes } from '../../../cli/list.ts'
import { checkWords } from '../../../cli/objects/check-words.ts'
import { requestDeletion } from '../../../cli/objects/delete-object.ts'
import { follow } from '../../../cli/objects/follow.ts'
import { readMachines } from '../../../cli/objects/machines.ts'
import type { ManyAsked } from '../../../cli/objects/selection.ts'
import type { Session } from '../../../cli/session.ts'
import { ask } from '../../../cli/terminal/ask.ts'
import { EXIT, type ExitCode, worst } from '../../../cli/terminal/exit.ts'
import { confirm } from '../../../cli/terminal/terminal-input.ts'
import { words } from '../../../cli/terminal/text.ts'
import { notFoundRefusal, type PhaseClass } from '../../../client-model/index.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import { gql } from '../../../documents/gql.ts'
import type { ResultOf } from '../../../documents/typed-document.ts'
import { CREATE, countsOf, newName, OUTCOMES, PREVIEW, readFinished, sayPreview, TARGETS } from './bulk.ts'

const DONE = gql(`query DoneTargets($id: ID!, $first: Int!, $after: String) {
  object(id: $id) { ... on BulkOperation { outcomes(only: [DONE], first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor } edges { node { targetId caused { id } object { root { id } } } }
  } } }
}`)

/**
 * Asks by a bulk operation, which is one request whatever it selects, and waits until each object has its outcome. The operation is
 * deleted at the end, unless an object has refused: its outcomes are read then.
 */
export async function askMany(session: Session, asked: ManyAsked): Promise<ExitCode> {
  const { verb, project, kind, labels, flags, only, reason, dryRun, yes, isWanted } = asked
  const wrong = await checkWords(session, { kinds: kind === undefined ? [] : [kind] })
  if (wrong) return session.refuse(wrong)
  const filter = {
    ...(kind === undefined ? { rootsOnly: true } : { kinds: [kind] }),
    ...(labels.length > 0 && { labels }),
    ...(only.finished !== undefined && { finished: only.finished }),
    ...(only.classes && { phases: await phasesOf(session, only.classes) }),
  }
  const selection = { project, verb, filter, ...(flags.length > 0 && { flags }) }
  const previewed = await ask(session, PREVIEW, selection)
  if (!previewed.ok) return session.refuse(previewed.refusal)
  const { count, groups } = previewed.value
  if (dryRun) return sayPreview(session, verb, previewed.value)
  if (!yes && count > 0) {
    const question = `${verb[0]?.toUpperCase()}${verb.slice(1)} ${countedKinds(groups)} of project ${project}?`
    if (!(await confirm(session.io, question))) return EXIT.interrupted
  }
  if (count === 0) {
    session.note('Nothing matches.')
    session.emit({ verb, project, counts: { all: 0 }, refused: [] })
    return EXIT.ok
  }
  const note = reason === undefined ? {} : { note: reason }
  const created = await ask(session, CREATE, { ...selection, ...note, name: newName(verb) })
  if (!created.ok) return session.refuse(created.refusal)
  return await finish(session, created.value, asked, isWanted)
}

async function finish(
  session: Session,
  { id, name }: { readonly id: string; readonly name: string },
  { verb, project }: Pick<ManyAsked, 'verb' | 'project'>,
  isWanted: ManyAsked['isWanted'],
): Promise<ExitCode> {
  const operation = await readFinished(session, id)
  if (!operation) return session.refuse(notFoundRefusal(`${name} is gone.`))
  const { counts, phase } = operation
  const refused =
    phase === 'SUCCEEDED'
      ? []
      : await readNodes(
          session,
          { document: TARGETS, page: (found: ResultOf<typeof TARGETS>) => found.object?.outcomes },
          { id, only: ['REFUSED', 'FORBIDDEN'] },
        )
  session.emit({ verb, project, counts, refused })
  session.say(`${verb} asked of ${countsOf(counts)}`)
  session.list({ nodes: refused, columns: OUTCOMES })
  const done = isWanted
    ? await readNodes(
        session,
        { document: DONE, page: (found: ResultOf<typeof DONE>) => found.object?.outcomes },
        { id },
      )
    : []
  if (phase === 'SUCCEEDED') await requestDeletion(session, operation)
  else session.note(`phaseline bulk show ${project}/${name} shows all outcomes.`)
  const codes: ExitCode[] = [phase === 'SUCCEEDED' ? EXIT.ok : EXIT.refused]
  for (const { targetId, caused, object } of done) {
    const focusId = caused?.id ?? targetId
    // An object that is gone meanwhile was its own root, or went with it.
    const rootId = caused?.id ?? object?.root.id ?? targetId
    codes.push(await follow(session, rootId, isWanted ?? (() => true), { focusId }))
  }
  return worst(codes)
}

async function phasesOf({ client, io }: Session, classes: readonly PhaseClass[]): Promise<Phase[]> {
  const machines = await readMachines(client, io.signal)
  return machines.all.flatMap((machine) =>
    machine.classes.flatMap((one) => (classes.includes(one.class) ? one.phase : [])),
  )
}

/** e.g. `12 installations and 1 schedule`. */
function countedKinds(groups: readonly { readonly kind: string; readonly count: number }[]): string {
  const parts = [...Map.groupBy(groups, ({ kind }) => kind)].map(([kind, some]) => {
    const count = some.reduce((sum, one) => sum + one.count, 0)
    return `${count} ${words(kind)}${count === 1 ? '' : 's'}`
  })
  return parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}` : parts.join('')
}
