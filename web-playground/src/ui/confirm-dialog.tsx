import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { useModal } from './use-modal.ts'

interface Props {
  readonly title: string
  readonly text: string
  readonly label: string
  readonly danger: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
  /** Details below the text. */
  readonly children?: ReactNode
}

/** States the consequences, and requests confirmation. */
export function ConfirmDialog({ title, text, label, danger, onConfirm, onClose, children }: Props) {
  const modal = useModal(onClose)
  const safe = useRef<HTMLButtonElement>(null)
  // Once it is open. An Enter that is held down while a link opens it confirms nothing.
  useLayoutEffect(() => safe.current?.focus(), [])
  return (
    <dialog {...modal} aria-labelledby="confirm-title">
      <h2 id="confirm-title">{title}</h2>
      <p>{text}</p>
      {children}
      <div className="actions">
        <button type="button" className={danger ? 'danger' : 'primary'} onClick={onConfirm}>
          {label}
        </button>
        <button ref={safe} type="button" onClick={onClose}>
          Leave it as it is
        </button>
      </div>
    </dialog>
  )
}
