import { type RefObject, useLayoutEffect, useRef } from 'react'

/** A dialog that is open while it is rendered. When it closes, the focus returns at once, so that no key is lost. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const opener = document.activeElement
    const element = dialog.current
    element?.showModal()
    return () => {
      // Nothing outside can have the focus while the dialog is open.
      element?.close()
      if (opener instanceof HTMLElement) opener.focus()
    }
  }, [])
  return dialog
}
