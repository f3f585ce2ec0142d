/**
 * What a page shows when its data could not be read.
 * Its fields come from the answer; a status of 0 means that there was none.
 */
export class ApiError extends Error {
  /**
   * @param {{key: string, message: string, hint: string | null, reason?: string | null}} error
   * @param {number} status
   */
  constructor(error, status) {
    super(error.message);
    this.key = error.key;
    this.hint = error.hint;
    this.reason = error.reason;
    this.status = status;
  }
}
