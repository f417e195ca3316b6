import { useState } from 'react'
import { type Act, type Asked, act } from '../data/act.ts'
import { useSession } from './session-context.ts'

interface Acting {
  readonly busy: boolean
  /** The outcome of the last action. */
  readonly result: Act | null
  ask(asked: Asked): Promise<Act>
}

/** One action at a time, and its outcome. */
export function useAct(onDone: () => void): Acting {
  const { client } = useSession()
  const [busy, setBusy] = useState(false)
  const [result, setResult] = useState<Act | null>(null)
  const ask = async (asked: Asked): Promise<Act> => {
    setBusy(true)
    const outcome = await act(client, asked)
    setResult(outcome)
    setBusy(false)
    onDone()
    return outcome
  }
  return { busy, result, ask }
}
