import type { Command } from 'commander'
import { invalid, type Outcome, REFUSAL_FRAGMENT, refused } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import { readJson } from '../../manifest/index.ts'
import type { Cli } from '../cli.ts'
import { parseFile } from '../options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { readInput } from '../terminal/read-input.ts'
import { type AddressOptions, type Located, locate, withAddressOptions } from './address.ts'

interface Options extends SessionOptions, AddressOptions {
  readonly comment?: string
}
interface SignalOptions extends SessionOptions, AddressOptions {
  readonly file?: string
}

const GIVEN = 'id name gate { approvalsNeeded approvals { by } }'
const APPROVE = gql(`mutation Approve($input: ApproveInput!) {
  answer: approve(input: $input) {
    __typename ... on DeployItem { ${GIVEN} } ... on Worker { ${GIVEN} } ... on Job { ${GIVEN} } ... on GadgetJob { ${GIVEN} }
    ...Refusal
  }
}\n${REFUSAL_FRAGMENT}`)
const REJECT = gql(`mutation Reject($input: RejectInput!) {
  answer: reject(input: $input) { __typename ... on TreeObject { id name } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const SIGNAL = gql(`mutation Signal($input: SignalInput!) {
  answer: signal(input: $input) { __typename ... on TreeObject { id name } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const GATES = gql(`query WaitingGates($id: ID!) { object(id: $id) {
  blockedBy {
    source { id kind path }
    ... on GateBlocker { signal }
    ... on DecisionBlocker { object { id kind path } }
  }
} }`)
/** Kinds of objects that may wait at a gate. */
const GATED: ReadonlySet<string> = new Set(['DEPLOY_ITEM', 'WORKER', 'JOB', 'GADGET_JOB'])

/** `phaseline approve NAME`: opens a gate, or the one that waits in a tree. */
export function addApprove(command: Command, cli: Cli): void {
  onGate(command, cli, async (session, id, { comment = null }) => {
    const outcome = await ask(session, APPROVE, { id, comment })
    if (!outcome.ok) return session.refuse(outcome.refusal)
    const { name, gate } = outcome.value
    session.emit(outcome.value)
    const [given, needed] = [gate?.approvals.length ?? 0, gate?.approvalsNeeded ?? 0]
    const names = gate?.approvals.map(({ by }) => by).join(', ')
    session.say(given < needed ? `${name} has ${given} of ${needed} approvals: ${names}` : `${name} is approved`)
    return EXIT.ok
  })
}

/** `phaseline reject NAME`: the gate fails. */
export function addReject(command: Command, cli: Cli): void {
  onGate(command, cli, async (session, id, { comment = null }) => {
    const outcome = await ask(session, REJECT, { id, comment })
    if (!outcome.ok) return session.refuse(outcome.refusal)
    session.emit(outcome.value)
    session.say(`${outcome.value.name} is rejected`)
    return EXIT.ok
  })
}

/** `phaseline signal NAME SIGNAL [JSON]`. */
export function addSignal(command: Command, cli: Cli): void {
  withSessionOptions(withAddressOptions(command))
    .argument('<name>', 'id, or path of the gate, or of a tree in which one waits for the signal')
    .argument('<signal>', 'name of the signal')
    .argument('[json]', 'an object whose keys become exports of the gate')
    .option('-f, --file <file>', 'read the object from a file, - for standard input', parseFile)
    .action(async (name: string, signal: string, json: string | undefined, options: SignalOptions) => {
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        const located = await locate(session, name, options)
        if (!located.ok) return session.refuse(located.refusal)
        const payload = await payloadOf(session, json, options)
        if (!payload.ok) return session.refuse(payload.refusal)
        const gate = await gateIn(session, located.value, signal)
        if (!gate.ok) return session.refuse(gate.refusal)
        const outcome = await ask(session, SIGNAL, { id: gate.value, name: signal, payload: payload.value })
        if (!outcome.ok) return session.refuse(outcome.refusal)
        session.emit(outcome.value)
        session.say(`${outcome.value.name} has the signal ${signal}`)
        return EXIT.ok
      })
    })
}

async function payloadOf(
  { io }: Session,
  json: string | undefined,
  { file }: SignalOptions,
): Promise<Outcome<unknown>> {
  if (json !== undefined && file !== undefined)
    return refused(invalid('The object is given twice: as JSON and in a file.'))
  if (file === undefined && json === undefined) return { ok: true, value: null }
  const input = file === undefined ? ({ ok: true, text: json ?? '' } as const) : await readInput(file, io.stdin)
  if (!input.ok) return refused(invalid(input.message))
  const read = readJson('The object', input.text)
  return read.ok ? read : refused(invalid(read.message))
}

function onGate(
  command: Command,
  cli: Cli,
  work: (session: Session, id: string, options: Options) => Promise<ExitCode>,
) {
  withSessionOptions(withAddressOptions(command))
    .argument('<name>', 'id, or path of the gate, or of a tree in which one waits')
    .option('--comment <text>', 'shown with the decision, and in the log')
    .action(async (name: string, options: Options) => {
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        const located = await locate(session, name, options)
        const gate = located.ok ? await gateIn(session, located.value) : located
        return gate.ok ? await work(session, gate.value, options) : session.refuse(gate.refusal)
      })
    })
}

/**
 * The id of the gate itself, or of the only one in a tree that waits.
 * @param awaited the signal for which it waits; left out: for people
 */
async function gateIn(
  { client, io }: Session,
  { id, kind, name }: Located,
  awaited?: string,
): Promise<Outcome<string>> {
  if (GATED.has(kind)) return { ok: true, value: id }
  const { object } = await client.query(GATES, { id }, { signal: io.signal })
  const waiting = (object?.blockedBy ?? []).flatMap((blocker) => {
    if (awaited !== undefined) return 'signal' in blocker && blocker.signal === awaited ? (blocker.source ?? []) : []
    const gate = 'object' in blocker ? blocker.object : null
    return gate && GATED.has(gate.kind) ? [gate] : []
  })
  const [only, ...others] = waiting
  const what = awaited === undefined ? 'people' : `the signal ${awaited}`
  if (!only) return refused(invalid(`No gate in ${name} waits for ${what}.`))
  if (others.length === 0) return { ok: true, value: only.id }
  return refused(invalid(`Several gates wait in ${name}: name one of ${waiting.map((gate) => gate.path).join(', ')}.`))
}
