import { type RefObject, useEffect, useRef } from 'react'
import { useLocation, useSearch } from 'wouter'

/** A popover that closes when another page is shown; Escape and a click beside it close it anyway. */
export function usePopover(): RefObject<HTMLDivElement | null> {
  const popover = useRef<HTMLDivElement>(null)
  const [path] = useLocation()
  const search = useSearch()
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the address that makes another page
  useEffect(() => popover.current?.hidePopover(), [path, search])
  return popover
}
