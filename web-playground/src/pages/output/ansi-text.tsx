import Anser from 'anser'

/** A line with the colours that its program has given it. Codes that are no colours are left out. */
export function AnsiText({ text }: { readonly text: string }) {
  if (!text.includes('\u001b')) return text
  return Anser.ansiToJson(text, { use_classes: true, remove_empty: true, json: true }).map(
    ({ content, fg, bg, decorations }, index) => {
      const classes = [fg, bg && `${bg}-bg`, ...decorations.map((one) => `ansi-${one}`)].filter(Boolean)
      return (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a line never change
          key={index}
          className={classes.join(' ') || undefined}
        >
          {content}
        </span>
      )
    },
  )
}
