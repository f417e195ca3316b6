import { useCallback, useEffect, useRef, useState } from 'react'

export interface PaletteState {
  readonly isOpen: boolean
  readonly open: () => void
  readonly close: () => void
}

/**
 * Ctrl K, or Cmd K, opens it, unless an editor has taken the keys, and closes it again.
 * @param onKeys is called for `?`, unless it is typed into a field
 */
export function usePalette(onKeys: () => void): PaletteState {
  const [isOpen, setIsOpen] = useState(false)
  const asked = useRef(onKeys)
  asked.current = onKeys
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.key === '?' && !isTyped(event)) asked.current()
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return
      event.preventDefault()
      setIsOpen((now) => !now)
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
  const open = useCallback((): void => setIsOpen(true), [])
  const close = useCallback((): void => setIsOpen(false), [])
  return { isOpen, open, close }
}

/** A shadow root hides its editor from the event's target. */
const isTyped = (event: KeyboardEvent): boolean =>
  event
    .composedPath()
    .some(
      (target) =>
        target instanceof HTMLElement && target.matches('input, select, textarea, dialog, [contenteditable=true]'),
    )
