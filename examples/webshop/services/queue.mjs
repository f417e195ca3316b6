import { badRequest } from '../lib/http.mjs'

const KEPT = 100

/** Messages by topic, the newest hundred: POST and GET of `/topics/<topic>`. */
export function createService() {
  const topics = new Map()
  return ({ method, path, body }) => {
    const name = /^\/topics\/([\w-]{1,64})$/.exec(path)?.[1]
    if (name === undefined) return undefined
    const topic = topics.get(name) ?? { count: 0, messages: [] }
    if (method === 'GET') return topic
    if (method !== 'POST') return undefined
    if (body === undefined) throw badRequest('A message is missing.')
    topic.count += 1
    topic.messages = [...topic.messages, { number: topic.count, at: new Date().toISOString(), body }].slice(-KEPT)
    topics.set(name, topic)
    return { number: topic.count }
  }
}
