import { useCallback, useEffect, useState } from 'react'

export interface PaletteState {
  readonly isOpen: boolean
  readonly open: () => void
  readonly close: () => void
}

/** Ctrl K, or Cmd K, opens it, unless an editor has taken the keys, and closes it again. */
export function usePalette(): PaletteState {
  const [isOpen, setIsOpen] = useState(false)
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
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
