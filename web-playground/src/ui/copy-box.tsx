import { useState } from 'react'
import { ScrollingText } from './scrolling-text.tsx'

/** A text to paste elsewhere, with a button that copies it. */
export function CopyBox({ label, text }: { readonly label: string; readonly text: string }) {
  const [copied, setCopied] = useState<string | null>(null)
  const copy = async (): Promise<void> => {
    // Without https there is no clipboard but on this machine: the text can be selected.
    const done = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    )
    setCopied(done ? text : null)
  }
  return (
    <section className="copy-box" aria-label={label}>
      <ScrollingText>{text}</ScrollingText>
      <button type="button" onClick={() => void copy()}>
        {copied === text ? 'Copied' : 'Copy'}
      </button>
    </section>
  )
}
