/**
 * Devices of one request: a batch of the lanes, so that all of it is committed at once.
 * @limit devices of a batch of an import → the next batch
 */
export const DEVICES_PER_REQUEST_MAX = 1_000;
/**
 * Some tens of milliseconds of the database when every one is a device.
 * @limit ordinals of a page of an export → the next page
 */
export const ORDINALS_PER_PAGE = 2_048;
export const TAGS_PER_REQUEST_MAX = 1_000;
