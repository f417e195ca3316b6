import { useGraphiQL, useGraphiQLActions } from '@graphiql/react'
import { useEffect, useRef } from 'react'
import { LISTENING } from './listening.ts'

interface OperationMessage {
  readonly operation: string
}

/** Opens each operation that the dashboard posts in a tab of its own, so that no typed text is overwritten. */
export function OperationTabs() {
  const { addTab, setOperationName } = useGraphiQLActions()
  const editor = useGraphiQL(({ queryEditor }) => queryEditor)
  const takenIn = useGraphiQL(({ tabs, activeTabIndex }) => tabs[activeTabIndex]?.query)
  const waiting = useRef<string[]>([])
  useEffect(() => {
    const open = (operation: string): void => {
      if (!editor) {
        waiting.current.push(operation)
        return
      }
      // `addTab` stores typed text at once, but with the name of the last parsed operation.
      if (editor.getValue() !== takenIn) setOperationName('')
      addTab()
      editor.setValue(operation)
    }
    const onMessage = ({ origin, source, data }: MessageEvent<unknown>): void => {
      if (origin === location.origin && source === parent && isOperation(data)) open(data.operation)
    }
    if (editor) for (const operation of waiting.current.splice(0)) open(operation)
    addEventListener('message', onMessage)
    // The dashboard posts nothing before: the frame's `load` event comes before effects are run.
    parent.postMessage(LISTENING, location.origin)
    return () => removeEventListener('message', onMessage)
  }, [addTab, editor, setOperationName, takenIn])
  return null
}

const isOperation = (data: unknown): data is OperationMessage =>
  typeof data === 'object' && data !== null && 'operation' in data && typeof data.operation === 'string'
