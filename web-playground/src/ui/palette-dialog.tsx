import { type InputHTMLAttributes, type ReactNode, useLayoutEffect, useRef } from 'react'
import { useModal } from './use-modal.ts'
import './palette.css'

export interface PaletteText {
  readonly text: string
  readonly onText: (text: string) => void
  readonly onClose: () => void
}

interface Props extends PaletteText {
  readonly field?: InputHTMLAttributes<HTMLInputElement>
  readonly children?: ReactNode
}

/** The dialog of the palette and its field, which takes what is typed before the rest is loaded. */
export function PaletteDialog({ text, onText, onClose, field, children }: Props) {
  const modal = useModal(onClose)
  const input = useRef<HTMLInputElement>(null)
  // The field of the loaded palette has the text of the one before it.
  useLayoutEffect(() => input.current?.setSelectionRange(-1, -1), [])
  return (
    <dialog {...modal} className="palette" aria-label="Find">
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label="An object, a page or a verb"
        aria-expanded={false}
        autoComplete="off"
        spellCheck={false}
        placeholder="Name, path, id or label, a page, or a verb and a name"
        value={text}
        onChange={({ target }) => onText(target.value)}
        {...field}
      />
      {children}
    </dialog>
  )
}
