import type { IncomingMessage, ServerResponse } from 'node:http'
import { HOOK_BODY_MS, MAX_HOOK_BODY } from '../../core/hook.ts'
import type { HookHeaders, HookPort, OpenHook } from '../../core/ports/hooks.ts'
import type { FailureCode } from '../../core/vocabulary.ts'
import { databaseFailure } from '../../graphql/schema/failures.ts'
import { allowOf, HOOKS_PATH } from '../endpoints/endpoints.ts'
import type { Account } from '../limits/accounts.ts'
import type { Reservation } from '../limits/callers.ts'
import { refuseForNow, reply, replyError } from '../replies/reply.ts'
import { bodyInTime } from './body-in-time.ts'
import type { HttpParts } from './graphql-http.ts'

/**
 * Deliveries of others: `POST /hooks/<project>/<name>`. Until a request is authentic it counts for its address and the name of the hook,
 * so that nobody without a secret uses up what a hook has; from then on it counts for its hook, too. The hook is read when the body has
 * arrived: a secret that is removed meanwhile is none, and a hook that does not exist answers as late as others.
 */

type Parts = Pick<HttpParts, 'callers' | 'turns' | 'refusals' | 'lateRefusals'> & { readonly hooks: HookPort }

const JSON_TYPE = 'application/json; charset=utf-8'
/** The same for a hook that does not exist, so that nobody finds out which do. */
const NOT_AUTHENTIC =
  'There is no such hook, or the request is not authentic by one of its secrets: compare the secret of the sender, and its clock.'
const TOO_LARGE = `A delivery has at most ${MAX_HOOK_BODY} bytes.`
const TOO_LATE = `The body has not arrived within ${HOOK_BODY_MS / 1_000} seconds.`
const RETRY_SECONDS = 5
/** Bodies up to here always have room, whatever large ones take: only the number of requests bounds them. */
const SMALL_BODY = 64 * 1_024
/** Longer names are of no hook, and would fill the accounts. */
const MAX_KEY = 200

export async function handleHook(request: IncomingMessage, response: ServerResponse, parts: Parts): Promise<void> {
  response.setHeader('cache-control', 'no-store')
  const [project = '', name = '', ...more] = partsOf(request)
  const address = parts.callers.addressOf(request)
  const sender = parts.callers.senderTo(`${project}/${name}`.slice(0, MAX_KEY), address)
  // A turn of the address, since whoever has no secret may name any hook.
  await parts.turns.next(parts.callers.strangersAt(address))
  const fail = (status: number, code: FailureCode, message: string): void => {
    // The rest of a refused body is not waited for.
    if (!request.complete) response.setHeader('connection', 'close')
    replyError(response, status, code, message)
  }
  // The protocol of CloudEvents has senders ask first whether they may post. Each may that has a secret, from anywhere.
  if (request.method === 'OPTIONS' && request.headers['webhook-request-origin'] !== undefined)
    return void response.writeHead(200, { allow: allowOf(HOOKS_PATH), 'webhook-allowed-origin': '*' }).end()
  if (request.method !== 'POST') {
    response.setHeader('allow', allowOf(HOOKS_PATH))
    return fail(405, 'METHOD_NOT_ALLOWED', 'Deliveries are posted.')
  }
  const { 'content-encoding': encoding = 'identity', 'content-length': length = '0' } = request.headers
  if (encoding !== 'identity')
    return fail(415, 'UNSUPPORTED_MEDIA_TYPE', `A body in the encoding ${encoding} is not read here: send it as it is.`)
  if (Number(length) > MAX_HOOK_BODY) {
    parts.refusals.count('TOO_LARGE')
    return fail(413, 'TOO_LARGE', TOO_LARGE)
  }
  const operation = sender.reserve('openOperations')
  const budget = new Budget(sender.reserve('requestBytes'), parts.callers.unjudged)
  try {
    const excess = sender.request() ?? operation.take()
    if (excess) return refuseForNow(response, parts, excess)
    // Node answers any other expectation itself.
    if (request.headers.expect !== undefined && request.httpVersion === '1.1') response.writeContinue()
    const charge = sender.meter()
    const body = await bodyInTime(request, {
      withinMs: HOOK_BODY_MS,
      maxBytes: MAX_HOOK_BODY,
      refuse(bytes, size) {
        charge(bytes)
        return size > SMALL_BODY && size <= MAX_HOOK_BODY ? budget.take(bytes) : null
      },
    })
    if (body === null) return
    if (body === 'LATE') {
      parts.refusals.count('REQUEST_TIMEOUT')
      return fail(408, 'TIMEOUT', TOO_LATE)
    }
    if (body === 'TOO_LARGE') {
      parts.refusals.count('TOO_LARGE')
      return fail(413, 'TOO_LARGE', TOO_LARGE)
    }
    if (!Buffer.isBuffer(body)) return refuseForNow(response, parts, body)
    // No hook has a slash in its name.
    const hook = await parts.hooks.find(project, [name, ...more].join('/'))
    // Its bytes have paid for the first hash.
    sender.meter()(body.length * Math.max(0, hook.secrets - 1))
    const headers = headersOf(request)
    const verdict = hook.authenticate(headers, body)
    budget.judged()
    if (verdict.ok) return await answer({ hook, headers, body, secretName: verdict.secretName }, response, parts)
    if (!verdict.lacksKey) return fail(401, 'UNAUTHENTICATED', NOT_AUTHENTIC)
    response.setHeader('retry-after', RETRY_SECONDS)
    return fail(503, 'SERVICE_UNAVAILABLE', 'This server lacks PHASELINE_SECRET_KEY, which opens the secrets of hooks.')
  } catch (error) {
    const unavailable = databaseFailure(error)
    if (request.destroyed && !request.complete) return
    if (!unavailable || response.headersSent) throw error
    parts.refusals.count('SERVICE_UNAVAILABLE')
    response.setHeader('retry-after', RETRY_SECONDS)
    const { code: _, ...extensions } = unavailable.extensions
    replyError(response, 503, 'SERVICE_UNAVAILABLE', unavailable.message, extensions)
  } finally {
    operation.end()
    budget.end()
  }
}

interface Sent {
  readonly hook: OpenHook
  readonly headers: HookHeaders
  readonly body: Buffer
  readonly secretName: string
}

async function answer({ hook, ...sent }: Sent, response: ServerResponse, parts: Parts): Promise<void> {
  const account = parts.callers.hook(hook.id)
  const excess = account.request()
  if (excess) return refuseForNow(response, parts, excess)
  const { status, deliveries } = await hook.receive(sent)
  account.charge(Math.max(0, deliveries.length - 1))
  if (status === 503) response.setHeader('retry-after', RETRY_SECONDS)
  reply(response, status, JSON_TYPE, JSON.stringify({ deliveries }))
}

/** The parts of the path behind `/hooks/`. */
function partsOf({ url = '' }: IncomingMessage): readonly string[] {
  const path = url.split('?', 1)[0] ?? ''
  return path.slice(HOOKS_PATH.length).split('/')
}

/** Node has lower case for all names, and a list for one of them. */
const headersOf = ({ headers }: IncomingMessage): HookHeaders =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )

type Excess = NonNullable<ReturnType<Reservation['take']>>

/** The bytes of a large body count for its senders, and among those of all bodies that are not authentic yet. */
class Budget {
  readonly #bytes: Reservation
  readonly #unjudged: Account
  #held = 0
  constructor(bytes: Reservation, unjudged: Account) {
    this.#bytes = bytes
    this.#unjudged = unjudged
  }

  take(more: number): Excess | null {
    const excess = this.#unjudged.excess('requestBytes', more) ?? this.#bytes.take(more)
    if (!excess) this.#hold(more)
    return excess
  }

  judged(): void {
    this.#hold(-this.#held)
  }

  end(): void {
    this.judged()
    this.#bytes.end()
  }

  #hold(more: number): void {
    this.#unjudged.add('requestBytes', more)
    this.#held += more
  }
}
