/** For what comes in the place of a button that had the focus: the keyboard goes on from there. */

/** To be attached to an element with `tabindex="-1"`. */
export const takeFocus = (element: HTMLElement): void => element.focus();
