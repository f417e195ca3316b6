import { useEffect, useState } from 'react'

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
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  useEffect(() => {
    if (text === value) return
    const timer = setTimeout(() => onChange(text), TYPED_MS)
    return () => clearTimeout(timer)
  }, [text, value, onChange])
  return (
    <label className="grow">
      <span>{label}</span>
      <input type="search" value={text} placeholder={placeholder} onChange={({ target }) => setText(target.value)} />
    </label>
  )
}
