import { useEffect, useRef, useState } from 'react'

interface Props {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly placeholder?: string
}
/** Milliseconds of a pause in typing. */
const TYPED_MS = 250

/** A field whose text takes effect after a pause in typing. */
export function SearchField({ label, value, onChange, placeholder = 'contains…' }: Props) {
  const [typed, setTyped] = useState({ text: value, over: value })
  const isTyped = typed.over === value
  // Another value wins: what was typed was meant for the one before. In an effect it could come later than the pause.
  if (!isTyped) setTyped({ text: value, over: value })
  const text = isTyped ? typed.text : value
  // A page that is drawn again while it changes, with another function, does not prolong the pause.
  const change = useRef(onChange)
  change.current = onChange
  useEffect(() => {
    if (text === value) return
    const timer = setTimeout(() => change.current(text), TYPED_MS)
    return () => clearTimeout(timer)
  }, [text, value])
  return (
    <label className="grow">
      <span>{label}</span>
      <input
        type="search"
        value={text}
        placeholder={placeholder}
        onChange={({ target }) => setTyped({ text: target.value, over: value })}
      />
    </label>
  )
}
