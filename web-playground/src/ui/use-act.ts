import { useState } from 'react'
import { type Act, type Asked, act } from '../data/act.ts'
import { useSession } from './session-context.ts'

interface Acting {
  readonly busy: boolean
  /** The outcome of the last action. */
  readonly result: Act | null
  ask(asked: Asked): Promise<Act>
}

/**
 * One action at a time, and its outcome.
 * @param onDone shows the effect; the next action is possible once it is shown
 */
export function useAct(onDone: () => Promise<unknown> | undefined): Acting {
  const { client } = useSession()
  const [busy, setBusy] = useState(false)
  const [result, setResult] = useState<Act | null>(null)
  const ask = async (asked: Asked): Promise<Act> => {
    setBusy(true)
    const outcome = await act(client, asked)
    setResult(outcome)
    await onDone()
    setBusy(false)
    return outcome
  }
  return { busy, result, ask }
}
