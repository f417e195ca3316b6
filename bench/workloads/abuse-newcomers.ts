import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { ask, bodyOf } from './read-http.ts'

const PATIENCE_MS = 10_000

/** The part of tokens, none of which was used before, whose owner gets an answer: every other one by a socket. */
export async function partServed(port: number, tokens: readonly string[]): Promise<number> {
  const served = await Promise.all(
    tokens.map(async (token, i) => {
      const answer = i % 2 === 0 ? request(port, token) : socket(port, token)
      return await Promise.race([answer.catch(() => false), delay(PATIENCE_MS, false)])
    }),
  )
  return served.filter(Boolean).length / tokens.length
}

async function request(port: number, token: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` }
  const { viewer } = await ask<{ viewer: { name: string } | null }>({
    port,
    headers,
    body: bodyOf('{ viewer { name } }'),
  })
  return viewer !== null
}

async function socket(port: number, token: string): Promise<boolean> {
  const opened = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws')
  try {
    await once(opened, 'open')
    opened.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }))
    const [message] = await once(opened, 'message')
    return JSON.parse(String(message)).type === 'connection_ack'
  } finally {
    opened.terminate()
  }
}
