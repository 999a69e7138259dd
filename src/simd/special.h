/* special.h - the words of rows of the letter f: functions of f64 that are compiled once, for the
 * scalar set. Part of vocabulary.h; the functions are those of math_special.h and its parts. */
#define V_ERFC(a) TNI_FN(tni_erfc)(a)
#define V_ERFCX(a) TNI_FN(tni_erfcx)(a)
#define V_ERFINV(a) TNI_FN(tni_erfinv)(a)
#define V_NDTR(a) TNI_FN(tni_ndtr)(a)
#define V_LOG_NDTR(a) TNI_FN(tni_log_ndtr)(a)
#define V_NDTRI(a) TNI_FN(tni_ndtri)(a)
#define V_ZETA(s, q) TNI_FN(tni_zeta)(s, q)
