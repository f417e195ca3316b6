import { type RefObject, type SyntheticEvent, useLayoutEffect, useRef } from 'react'

/** Props of a `<dialog>`. */
interface ModalProps {
  readonly ref: RefObject<HTMLDialogElement | null>
  readonly onCancel: (event: SyntheticEvent) => void
  readonly onClose: () => void
}

/** A dialog that is open while it is rendered. When it closes, the focus returns at once, so that no key is lost. */
export function useModal(onClose: () => void): ModalProps {
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
  return {
    ref: dialog,
    // Escape closes it by no longer rendering it: the browser would close it first and report it later, and an Enter in
    // between would be lost.
    onCancel(event) {
      event.preventDefault()
      onClose()
    },
    // The browser closes it all the same when Escape comes twice.
    onClose,
  }
}
