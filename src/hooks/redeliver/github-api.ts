import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Addresses } from '../../families/addresses.ts'
import type { ListedAttempt } from '../rules/missed-deliveries.ts'

/** The part of GitHub's API that lists deliveries of a webhook, and repeats one. */

const TIMEOUT_MS = 15_000
/** Bytes of a page: GitHub says some 500 of each attempt. */
const MAX_ANSWER = 1_024 * 1_024
const MAX_PAGES = 30

export interface GitHubHook {
  /** The webhook in the API, e.g. https://api.github.com/repos/acme/shop/hooks/1. */
  readonly address: string
  readonly token: string
}

/** GitHub refuses, or answers something else. */
export class GitHubProblem extends Error {}

/** All attempts since a time, the newest first. */
export async function listAttempts(
  hook: GitHubHook,
  since: Date,
  addresses: Addresses,
): Promise<readonly ListedAttempt[]> {
  const { origin } = new URL(hook.address)
  const found: ListedAttempt[] = []
  let next: string | null = `${hook.address}/deliveries?per_page=100`
  for (let page = 0; next !== null && page < MAX_PAGES; page += 1) {
    const { json, link } = await call('GET', next, hook, addresses)
    if (!Array.isArray(json)) throw new GitHubProblem('GitHub’s answer is no list of deliveries.')
    const attempts = json.flatMap(attemptOf)
    found.push(...attempts)
    const [, url] = /<([^>]+)>; *rel="next"/.exec(link) ?? []
    const isOver = attempts.some(({ deliveredAt }) => deliveredAt < since)
    // The token goes nowhere else.
    next = url !== undefined && !isOver && URL.canParse(url) && new URL(url).origin === origin ? url : null
  }
  return found
}

function attemptOf(value: unknown): readonly ListedAttempt[] {
  if (typeof value !== 'object' || value === null) return []
  const { id, guid, delivered_at: at, status_code: status } = value as Readonly<Record<string, unknown>>
  const deliveredAt = new Date(String(at))
  const isRead =
    Number.isSafeInteger(id) &&
    typeof guid === 'string' &&
    !Number.isNaN(deliveredAt.getTime()) &&
    Number.isInteger(status)
  return isRead ? [{ id: id as number, guid, deliveredAt, status: status as number }] : []
}

export async function askAgain(hook: GitHubHook, { id }: ListedAttempt, addresses: Addresses): Promise<void> {
  await call('POST', `${hook.address}/deliveries/${id}/attempts`, hook, addresses)
}

async function call(method: 'GET' | 'POST', address: string, { token }: GitHubHook, addresses: Addresses) {
  const url = new URL(address)
  addresses.requireAllowed(url.hostname)
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = send(url, {
      method,
      headers: {
        ...{ accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28', 'user-agent': 'phaseline' },
        ...{ authorization: `Bearer ${token}`, ...(method === 'POST' && { 'content-length': 0 }) },
      },
      lookup: addresses.lookup,
      agent: false,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    request.on('response', resolve)
    request.on('error', reject)
    request.end()
  })
  const text = await textOf(response)
  const { statusCode: status = 0 } = response
  if (status < 200 || status >= 300) throw new GitHubProblem(`GitHub answers ${method} with ${status}.`)
  return { json: method === 'GET' ? parsed(text) : null, link: String(response.headers.link ?? '') }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of response as AsyncIterable<Buffer>) {
    length += part.length
    if (length > MAX_ANSWER) throw new GitHubProblem(`GitHub’s answer has more than ${MAX_ANSWER} bytes.`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}
