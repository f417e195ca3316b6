import { useState } from 'react'

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
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>{text}</pre>
      <button type="button" onClick={() => void copy()}>
        {copied === text ? 'Copied' : 'Copy'}
      </button>
    </section>
  )
}
