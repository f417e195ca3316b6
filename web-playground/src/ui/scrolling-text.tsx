import type { ReactNode } from 'react'

/** A text of several lines that scrolls where it has no room. */
export const ScrollingText = ({ children }: { readonly children: ReactNode }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
  <pre tabIndex={0}>{children}</pre>
)
