/** A call of one service to another: JSON in, JSON out. A missing resource is null; any other failure throws. */
export async function callJson(method, url, body) {
  const response = await fetch(url, {
    method,
    signal: AbortSignal.timeout(5_000),
    redirect: 'error',
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  const answer = await response.json().catch(() => null)
  if (response.status === 404) return null
  if (!response.ok)
    throw new HttpError(response.status, answer?.error ?? `${method} ${url} answered ${response.status}.`)
  return answer
}

export class HttpError extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

export const getJson = (url) => callJson('GET', url)
export const notFound = () => new HttpError(404, 'There is no such thing.')
export const badRequest = (message) => new HttpError(400, message)
