import type { Outcome, Refusal } from 'phaseline/client-model'
import { useCallback, useRef, useState } from 'react'

/** Not randomUUID: only secure contexts have it, and a server in a local network has no certificate. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

interface Creating {
  readonly busy: boolean
  readonly refused: Refusal | null
  forget(): void
  /** Does nothing while a request runs. */
  create<T>(
    input: object,
    send: (input: object) => Promise<Outcome<T>>,
    done: (value: T) => Promise<unknown> | unknown,
  ): Promise<void>
}

/**
 * Sends the form. The same input has the same key until it is accepted, so it has its effect once, however often it is
 * sent.
 */
export function useCreate(): Creating {
  const keys = useRef(new Map<string, string>())
  const running = useRef(false)
  const [busy, setBusy] = useState(false)
  const [refused, setRefused] = useState<Refusal | null>(null)
  const forget = useCallback(() => setRefused(null), [])
  const create: Creating['create'] = useCallback(async (input, send, done) => {
    if (running.current) return
    running.current = true
    setBusy(true)
    setRefused(null)
    const filled = JSON.stringify(input)
    const idempotencyKey = keys.current.get(filled) ?? randomKey()
    keys.current.set(filled, idempotencyKey)
    const outcome = await send({ ...input, idempotencyKey })
    if (outcome.ok) {
      keys.current.delete(filled)
      await done(outcome.value)
    } else setRefused(outcome.refusal)
    running.current = false
    setBusy(false)
  }, [])
  return { busy, refused, forget, create }
}
