import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * All that a worker needs of Phaseline, without a dependency: copy it. While the server is away, for a few minutes,
 * requests are repeated: a worker outlives it, and the same request twice has one effect.
 */

const { PHASELINE_URL, PHASELINE_EVENT, PHASELINE_EVENT_ID, PHASELINE_TOKEN_FILE } = process.env
/** In a container a file has it, and no variable. */
const PHASELINE_TOKEN = process.env.PHASELINE_TOKEN ?? (await readFile(PHASELINE_TOKEN_FILE, 'utf8')).trim()
const AWAY = [429, 502, 503, 504]
const AGAIN_MS = 1_000
/** Bounds the wait for a server that never comes back. */
const GIVE_UP_MS = 300_000

const CREATE = `mutation ($input: CreateJobInput!) {
  answer: createJob(input: $input) { __typename ... on Job { id name } ... on Error { code message } }
}`
const CANCEL = `mutation ($input: CancelJobInput!) {
  answer: cancelJob(input: $input) { __typename ... on Error { code message } }
}`
const JOB = `query ($id: ID!) {
  object(id: $id) { phase finished error { code message } ... on Job { exitCode signal } }
}`
const LOGS = `query ($id: ID!, $after: String) {
  object(id: $id) { ... on Job { logs(first: 500, after: $after) {
    pageInfo { hasNextPage endCursor } edges { node { text } }
  } } }
}`
const HEAD = `query ($rootId: ID!) {
  phaseChanges(filter: { rootId: $rootId }, last: 1) { edges { node { sequence } } }
}`
const CHANGES = `subscription ($id: ID!, $after: Sequence) {
  phaseChanges(filter: { objectId: $id }, after: $after) { to }
}`

/** The event that started the pipeline: { id, name, project, source, type, qualifiers, labels, payload }. */
export const readEvent = async () => JSON.parse(await readFile(PHASELINE_EVENT, 'utf8'))

/** Creates a job: { id, name }. The same name with the same spec is the same job. */
export async function createJob(name, spec) {
  const { answer } = await query(CREATE, { input: { name, spec } })
  if (!answer.id) throw new Error(`${name} was refused: ${answer.code}: ${answer.message}`)
  return answer
}

/** Cancels a job; one that has ended stays as it is. */
export async function cancelJob({ id, name }, reason) {
  const { answer } = await query(CANCEL, { input: { id, reason } })
  if (answer.code && answer.code !== 'TRANSITION') throw new Error(`${name} cannot be cancelled: ${answer.message}`)
}

/** How a job ended: { phase, error, exitCode, signal }; GONE when it was deleted. */
export async function waitFor({ id }) {
  for (;;) {
    // First the place in the log, then the job, then what comes after that place: nothing falls between.
    const after = await head()
    const end = await endOf(id)
    if (end) return end
    try {
      for await (const _ of subscribe(CHANGES, { id, after })) {
        const end = await endOf(id)
        if (end) return end
      }
    } catch (error) {
      if (!(error instanceof Away)) throw error
    }
    await pause(AGAIN_MS)
  }
}

/** All lines that a job has written so far, as texts. */
export async function readLogs({ id }) {
  const lines = []
  for (let after = null; ; ) {
    const { object } = await query(LOGS, { id, after })
    if (!object) return lines
    const { edges, pageInfo } = object.logs
    lines.push(...edges.map(({ node }) => node.text))
    if (!pageInfo.hasNextPage) return lines
    after = pageInfo.endCursor
  }
}

async function head() {
  const { phaseChanges } = await query(HEAD, { rootId: PHASELINE_EVENT_ID })
  return phaseChanges.edges[0]?.node.sequence ?? 0
}

/** Null: it has not ended. */
async function endOf(id) {
  const { object } = await query(JOB, { id })
  if (!object) return { phase: 'GONE', error: null, exitCode: null, signal: null }
  return object.finished ? object : null
}

/** The server is away, or on its way back. */
class Away extends Error {}

async function query(document, variables) {
  const tooLate = performance.now() + GIVE_UP_MS
  for (;;) {
    try {
      const response = await send(document, variables, 'application/json')
      return dataOf(await response.json().catch(away))
    } catch (error) {
      if (!(error instanceof Away) || performance.now() > tooLate) throw error
      await pause(AGAIN_MS)
    }
  }
}

/** Results of a subscription, as server-sent events. */
async function* subscribe(document, variables) {
  const response = await send(document, variables, 'text/event-stream')
  let text = ''
  const chunks = response.body.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { done, value } = await chunks.next().catch(away)
      if (done) return
      const events = (text + value).split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) {
        const data = /^data: ?(.+)$/m.exec(event)?.[1]
        if (data) yield dataOf(JSON.parse(data))
      }
    }
  } finally {
    await chunks.return?.()
  }
}

async function send(query, variables, accept) {
  const response = await fetch(PHASELINE_URL, {
    method: 'POST',
    headers: { authorization: `Bearer ${PHASELINE_TOKEN}`, 'content-type': 'application/json', accept },
    body: JSON.stringify({ query, variables }),
  }).catch(away)
  if (AWAY.includes(response.status)) throw new Away(`The server answered ${response.status}.`)
  return response
}

function away(error) {
  throw new Away(error.message, { cause: error })
}

function dataOf({ data, errors }) {
  if (errors) throw new Error(errors.map(({ message }) => message).join('; '))
  return data
}
