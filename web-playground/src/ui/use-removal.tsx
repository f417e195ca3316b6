import { type ReactNode, useState } from 'react'
import type { Asked } from '../data/act.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'

/** The mutation that removes a thing, and its consequences for people. */
export interface Removal {
  readonly name: string
  readonly text: string
  readonly variables: Asked['variables']
}
interface Words {
  readonly label: string
  readonly done: string
}
const DELETE: Words = { label: 'Delete', done: 'is deleted' }

/** Asks before something is removed: `remove` opens the dialog, and `dialog` shows it. @param field the mutation */
export function useRemoval(
  field: Asked['field'],
  ask: (asked: Asked) => Promise<unknown>,
  { label, done }: Words = DELETE,
): { readonly remove: (one: Removal) => void; readonly dialog: ReactNode } {
  const [doomed, setDoomed] = useState<Removal | null>(null)
  const close = (): void => setDoomed(null)
  const confirm = ({ name, variables }: Removal): void => {
    close()
    const input = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`
    void ask({ field, input, done: `${name} ${done}.`, variables })
  }
  const dialog = doomed && (
    <ConfirmDialog
      title={`${label} ${doomed.name}?`}
      text={doomed.text}
      label={label}
      danger
      onConfirm={() => confirm(doomed)}
      onClose={close}
    />
  )
  return { remove: setDoomed, dialog }
}
