import type { Command } from 'commander'
import { ClientError } from '../../client/client-error.ts'
import { blockerText, forecastText, nodesOf, stuckOf } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { NodeOf, ResultOf } from '../../documents/typed-document.ts'
import type { Cli } from '../cli.ts'
import { askWho, describeWho, requireWho, WHO_FIELDS } from '../login/who.ts'
import { checkProject } from '../objects/check-words.ts'
import type { ProjectOption } from '../objects/object-command.ts'
import { ALL_PROJECTS } from '../options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { EXIT } from '../terminal/exit.ts'
import { duration, since, words } from '../terminal/text.ts'

/** Objects that wait for a person, or for what no tree provides, as far as they are listed. */
const SHOWN = 5
/** Unfinished objects whose blockers are read, the oldest. */
const UNFINISHED_READ = 100

const STATUS = gql(`query Status($project: String, $first: Int!, $unfinished: Int!) {
  viewer { ${WHO_FIELDS} }
  log { head }
  trees: objects(filter: { rootsOnly: true, project: $project }, first: 0) { totalCount }
  unfinished: objects(filter: { rootsOnly: true, finished: false, project: $project }, orderBy: { field: CREATED_AT, direction: ASC }, first: $first) {
    totalCount edges { node { id kind path project { name } forecast { p50 p90 runs } } } }
  failed: objects(filter: { failed: true, project: $project }, first: 0) { totalCount }
  undecided: objects(filter: { undecided: true, project: $project }, orderBy: { field: CREATED_AT, direction: ASC }, first: $first) {
    totalCount edges { node { id kind name path phase phaseSince project { name }
      blockedBy(first: 3) { reason message ... on DecisionBlocker { verbs { label } } } } }
  }
  waiting: objects(filter: { finished: false, project: $project }, orderBy: { field: CREATED_AT, direction: ASC }, first: $unfinished) {
    edges { node { id kind name path phaseSince project { name } parent { id }
      blockedBy(first: 3) { reason message source { id } ... on AgentBlocker { connected } } } }
  }
  connected: agents(connected: true, first: 0) { totalCount }
  away: agents(connected: false, first: 0) { totalCount }
}`)
type Status = ResultOf<typeof STATUS>
type Undecided = NodeOf<Status['undecided']>

interface StatusOptions extends SessionOptions, ProjectOption {
  readonly load?: boolean
}

/** `phaseline status`: what there is, in a few lines, and what waits for a person. */
export function addStatus(command: Command, cli: Cli): void {
  withSessionOptions(command)
    .option('--project <name>', 'of this project alone')
    .addOption(ALL_PROJECTS)
    .option('--load', 'the work that waits in all projects, by type, too (role MONITOR or ADMINISTRATOR)')
    .action(async (options: StatusOptions) => {
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        const standings = await cli.standings()
        const [status, ...said] = await Promise.all([
          readStatus(session, options),
          ...standings.map((standing) => standing(session, options.project)),
        ])
        const isShown = !(status instanceof ClientError)
        const absent = isShown && countOf(status.trees) === 0 ? await checkProject(session, options.project) : null
        if (absent) return session.refuse(absent)
        const who = isShown ? requireWho(status.viewer) : await askWho(session.client, session.io.signal)
        const ofLoad = options.load ? await import('../load.ts') : null
        const load = await ofLoad?.readLoad(session)
        const { url } = session.connection
        const shown = isShown ? jsonOf(status) : { viewer: who }
        session.emit({
          url,
          ...shown,
          ...Object.assign({}, ...said.map(({ json }) => json)),
          ...(load && { load: load.value ?? null }),
          ...(load && !load.ok && { error: load.refusal }),
        })
        session.say(`server  ${url}${isShown ? `, log at ${status.log.head}` : ''}`, `you     ${describeWho(who)}`)
        session.say(...(isShown ? describe(status) : [`trees   not shown: ${status.message}`]))
        session.say(...said.flatMap(({ lines }) => lines))
        if (load?.value) ofLoad?.printLoad(session, load.value)
        if (!load || load.ok) return EXIT.ok
        return session.json ? EXIT.refused : session.refuse(load.refusal)
      })
    })
}

/** The error: who may read metrics alone sees how much work waits, and no objects. */
async function readStatus({ client, io }: Session, { project, load }: StatusOptions) {
  try {
    return await client.query(
      STATUS,
      { project: project ?? null, first: SHOWN, unfinished: UNFINISHED_READ },
      { signal: io.signal },
    )
  } catch (error) {
    if (load && error instanceof ClientError && error.code === 'FORBIDDEN') return error
    throw error
  }
}

/** Objects with a root cause that is neither a decision nor something of their own tree. */
const stuckIn = ({ waiting }: Status) =>
  stuckOf(nodesOf(waiting)).filter(({ blocker }) => blocker.reason !== 'DECISION')

/** The JSON has what is stuck in place of all objects that were read for it. */
function jsonOf({ waiting, ...status }: Status) {
  const stuck = stuckIn({ waiting, ...status })
  return {
    ...status,
    stuck: stuck.map(({ object: { id, kind, path, phaseSince, project }, blocker }) => ({
      ...{ id, kind, path, phaseSince, project },
      blocker,
    })),
  }
}

function describe(status: Status): readonly string[] {
  const { trees, unfinished, failed, undecided, connected, away } = status
  const [all, open] = [countOf(trees), countOf(unfinished)]
  const [causes, waiting] = [countOf(failed), countOf(undecided)]
  const named = nodesOf(undecided)
  const stuck = stuckIn(status)
  return [
    `trees   ${all}, ${open} not finished`,
    ...nodesOf(unfinished).flatMap((one) => {
      const expected = forecastText(one.forecast, Date.now(), duration)
      return expected === null ? [] : [`        ${pathOf(one)}: ${expected}`]
    }),
    `failed  ${causes}${causes > 0 ? ' by themselves: phaseline get --failed' : ''}`,
    `decide  ${waiting}${waiting > 0 ? ' wait for a person:' : ''}`,
    ...named.map(
      (one) => `        ${pathOf(one)} (${words(one.kind)}) for ${since(one.phaseSince)}: ${decisionAt(one)}`,
    ),
    ...(waiting > named.length ? [`        … and ${waiting - named.length} more`] : []),
    `stuck   ${stuck.length}${stuck.length > 0 ? ' wait for what no tree provides:' : ''}`,
    ...stuck
      .slice(0, SHOWN)
      .map(({ object, blocker }) => `        ${pathOf(object)} for ${since(object.phaseSince)}: ${blocker.message}`),
    ...(stuck.length > SHOWN ? [`        … and ${stuck.length - SHOWN} more`] : []),
    // Not everybody may see agents.
    ...(connected ? [`agents  ${countOf(connected)} connected, ${countOf(away)} not any more`] : []),
  ]
}

const countOf = (list: Pick<NonNullable<Status['trees']>, 'totalCount'> | null): number => list?.totalCount ?? 0
/** The decision that a person has to make there, e.g. `Waits for an approval. Ship it? (Approve, or Reject)`. */
function decisionAt({ phase, blockedBy }: Undecided): string {
  const decision = blockedBy.find(({ reason }) => reason === 'DECISION')
  return decision ? blockerText(decision, Date.now()) : `is ${phase}`
}
const pathOf = ({ project, path }: Pick<Undecided, 'project' | 'path'>): string => `${project.name}/${path}`
